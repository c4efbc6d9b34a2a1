import type { WorkerPlan } from '../../protocol/run-plan.ts';
import { workerPlans } from '../../runbook/plan.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import type { Rules } from '../../state/rules.ts';

/** The rules of a project, as its runbook has them. */
export function rulesFromRunbook(runbook: Runbook | undefined): Rules {
  if (runbook === undefined) return { ciGate: false, mergeGate: false };
  const { ci, merge, limits, sameAgentMayReview, prices, envPass } = runbook;
  const checks = ci.required.map(({ name, run, timeoutMs, envPass: own = [] }) => ({
    name,
    ...(run === undefined ? {} : { run }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(envPass.length + own.length === 0 ? {} : { env_pass: [...envPass, ...own] }),
  }));
  return {
    ciGate: checks.length > 0,
    checks,
    mergeGate: merge !== undefined,
    ...(merge === undefined ? {} : { merge: { method: merge.method, into: merge.into ?? null } }),
    maxAgents: limits.agents,
    leaveMs: limits.leaveMs,
    maxBlocks: limits.blocks,
    maxResumes: limits.resumes,
    reviewRounds: limits.reviewRounds,
    sameAgentMayReview,
    stallMs: limits.stallMs,
    budgets: {
      ...(limits.taskBudget === undefined ? {} : { task: limits.taskBudget }),
      ...(limits.dayBudget === undefined ? {} : { day: limits.dayBudget }),
    },
    prices,
  };
}

export function sortedWorkers(runbook: Runbook): WorkerPlan[] {
  return workerPlans(runbook).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
