import type { AgentError, AgentPlan, HandlerName, HandlerPlan } from '../protocol/run-plan.ts';
import { event, type Event, type EventOf } from '../state/event.ts';
import { type AgentRun, isAttached, isAttaching } from '../state/runs/agent-run.ts';
import type { DecisionSource } from '../state/runs/decision.ts';
import type { EffectSubject } from '../state/runs/effect.ts';
import { addMs, type EngineContext, findWaitingHandler, pendingActions } from './context.ts';
import { endAgent } from './end-agent.ts';
import { escalate } from './decisions/escalate.ts';
import { CONTINUE_MESSAGE, resumeAgent, sendOrResume } from './resume.ts';

interface HandlerFiring {
  readonly handler: HandlerName;
  readonly plan: HandlerPlan;
  readonly source: DecisionSource;
  /** What happened, as shown to people if the handler escalates. */
  readonly message: string;
  readonly details?: string | null;
  readonly error?: AgentError | null;
  /** When the API limit ends, if known. */
  readonly resetAt?: string | null;
}

/** Fires a handler. Ignored while an earlier firing of the same handler is scheduled or its gate runs. */
export function fireHandler(world: EngineContext, agent: AgentRun, firing: HandlerFiring): Event[] {
  if (!isAtWork(agent)) return [];
  const isBusy = pendingActions(world.state, agent.id).some((each) => findWaitingHandler(each) === firing.handler);
  return isBusy ? [] : nextAttempt(world, agent, firing);
}

/** Whether handlers apply: the run is not over, parked or attached, and the agent has not signalled completion. */
export function isAtWork(agent: AgentRun): boolean {
  const { outcome, parked, signal } = agent;
  if (isAttached(agent) || isAttaching(agent)) return false;
  return outcome === null && parked === null && signal?.kind !== 'complete';
}

/** Acts now or after the cooldown. Escalates if the attempts are used up. */
function nextAttempt(world: EngineContext, agent: AgentRun, firing: HandlerFiring): Event[] {
  const { plan, handler } = firing;
  // A wait needs no cooldown before it.
  if (plan.action === 'wait') return waitForReset(world, agent, firing);
  const { count, at } = agent.tries[handler] ?? { count: 0, at: world.at };
  const attempts = plan.attempts ?? 1;
  if (attempts !== 'forever' && count >= attempts) return escalateExhausted(world, agent, firing, count);
  if (plan.action === 'resume' && agent.resumes >= (world.rules.maxResumes ?? MAX_RESUMES))
    return escalateExhausted(world, agent, firing, agent.resumes);
  // If the clock was set back, the last attempt lies in the future. The wait is never longer than the cooldown.
  const since = Date.parse(at) < Date.parse(world.at) ? at : world.at;
  const due = addMs(since, plan.cooldown_ms ?? 0);
  if (count === 0 || Date.parse(due) <= Date.parse(world.at)) return runAction(world, agent, firing);
  const purpose = { kind: 'handler', agent_id: agent.id, handler, error: firing.error ?? null } as const;
  return [event('TimerSet', { timer_id: world.newId(), due, purpose })];
}

/** Counts waits for API limits over the whole run, because limits return. */
function waitForReset(world: EngineContext, agent: AgentRun, firing: HandlerFiring): Event[] {
  const { attempts = MAX_LIMIT_WAITS } = firing.plan;
  if (attempts !== 'forever' && agent.waits >= attempts) return escalateExhausted(world, agent, firing, agent.waits);
  return runAction(world, agent, firing);
}

/** How many waits a run may spend on API limits if the runbook sets no `attempts`. */
const MAX_LIMIT_WAITS = 10;

/** How many resumes one run may have over all handlers, because `attempts` may be "forever". */
const MAX_RESUMES = 5;

function escalateExhausted(world: EngineContext, agent: AgentRun, firing: HandlerFiring, count: number): Event[] {
  const { handler, plan, message, details = null } = firing;
  const source = plan.action === 'gate' ? 'gate' : firing.source;
  const times = count === 1 ? 'once' : `${count} times`;
  const told = `${message} (${handler} = ${plan.action} was tried ${times})`;
  return escalate(world, agent, { source, reason: `${handler}: attempts used up`, message: told, details });
}

export function runAction(world: EngineContext, agent: AgentRun, firing: HandlerFiring): Event[] {
  const { handler, plan, source, message, details = null } = firing;
  const { action } = plan;
  if (action === 'escalate')
    return escalate(world, agent, {
      source,
      reason: `${handler}: escalate`,
      message: plan.message ?? message,
      details,
    });
  const attempt = (action === 'wait' ? agent.waits : (agent.tries[handler]?.count ?? 0)) + 1;
  return [
    event('HandlerTried', { agent_id: agent.id, handler, attempt, action }),
    ...actionEvents(world, agent, firing),
  ];
}

function actionEvents(
  world: EngineContext,
  agent: AgentRun,
  { handler, plan, error = null, resetAt = null }: HandlerFiring,
): Event[] {
  const { newId } = world;
  switch (plan.action) {
    case 'nudge':
      return [sendOrResume(world, agent, plan.message ?? NUDGE_MESSAGE)];
    case 'done':
      return endAgent(world, agent, 'done', `${handler}: done`);
    case 'fail':
      return endAgent(
        world,
        agent,
        'failed',
        plan.message === undefined ? `${handler}: fail` : `${handler}: ${plan.message}`,
      );
    case 'resume':
      if (agent.process !== 'gone') return [sendOrResume(world, agent, plan.message ?? CONTINUE_MESSAGE)];
      return [resumeAgent(agent, plan.message ?? null, plan.append ?? false)];
    case 'gate': {
      const subject = { kind: 'gate', agent_id: agent.id, handler, error } as const;
      const { run: command = 'false', timeout_ms = null } = plan;
      return [event('CommandRequested', { command_id: newId(), subject, command, timeout_ms })];
    }
    case 'wait':
      return [
        event('TimerSet', { timer_id: newId(), due: untilReset(world, agent, plan, resetAt), purpose: resetOf(agent) }),
      ];
    default:
      return [];
  }
}

export const NUDGE_MESSAGE =
  'Continue your work. When it is done, signal completion; if you cannot continue, escalate.';

/** The first and the longest wait if the API does not report when a limit ends. Each wait is twice the one before. */
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;

/** Ignores a reset time in the past, because the API refused the request after it. */
function untilReset({ at }: EngineContext, { waits }: AgentRun, plan: HandlerPlan, resetAt: string | null): string {
  const reset = Date.parse(resetAt ?? '');
  if (reset > Date.parse(at)) return new Date(reset).toISOString();
  const { cooldown_ms: first = FIRST_WAIT_MS } = plan;
  return addMs(at, Math.min(Math.max(first, LONGEST_WAIT_MS), first * 2 ** Math.min(waits, 30)));
}

function resetOf({ id: agent_id }: AgentRun) {
  return { kind: 'reset', agent_id } as const;
}

const ESCALATE = { action: 'escalate' } as const;

/** The runbook's handler, or the default: wait for a rate limit, escalate everything else. */
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

/**
 * On the end of a gate: exit code 0 ends the run as done. Any other code uses an attempt. After the last one, a person
 * is asked.
 */
export function afterGate(
  world: EngineContext,
  agent: AgentRun,
  { handler, error }: Extract<EffectSubject, { kind: 'gate' }>,
  { exit_code, timed_out, output }: EventOf<'CommandFinished'>['data'],
): Event[] {
  if (!isAtWork(agent)) return [];
  if (exit_code === 0) return endAgent(world, agent, 'done', `${handler}: gate passed`);
  const plan = handlerPlan(agent.plan, handler, error);
  const how = timed_out ? 'timed out' : `exit code ${exit_code ?? 'unknown'}`;
  const message = `Gate failed: ${plan.run ?? ''} (${how})`;
  return nextAttempt(world, agent, {
    handler,
    plan,
    source: 'gate',
    message,
    details: output,
    error,
  });
}
