import type { AgentError, AgentPlan, HandlerName, HandlerPlan } from '../protocol/run-plan.ts';

const ESCALATE = { action: 'escalate' } as const;

/** What the runbook says, or else the default: a person is asked, but for a rate limit, which passes by itself. */
export function handlerPlan(plan: AgentPlan, handler: HandlerName, error: AgentError | null): HandlerPlan {
  switch (handler) {
    case 'on_error':
      return errorPlanOf(plan, error);
    default:
      return plan[handler] ?? ESCALATE;
  }
}

function errorPlanOf({ on_error: plans = {} }: AgentPlan, error: AgentError | null): HandlerPlan {
  const named = error === null ? undefined : plans[error];
  return named ?? plans.any ?? (error === 'rate_limited' ? { action: 'wait' } : ESCALATE);
}
