import { canonicalJson } from '../ledger/canonical-json.ts';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import { withLibrary } from '../runbook/library.ts';
import { workerPlans } from '../runbook/plan.ts';
import type { Runbook } from '../runbook/runbook.ts';
import { decide } from '../state/decide.ts';
import type { Rules } from '../state/rules.ts';
import type { State } from '../state/state.ts';
import { holdsCredential } from './holds-credential.ts';
import type { Log } from './log.ts';
import type { Project } from './project.ts';

/** The rules of a project, as its runbook has them. */
export function rulesOf(runbook: Runbook | undefined): Rules {
  if (runbook === undefined) return { ciGate: false, mergeGate: false };
  const { ci, merge, limits, sameAgentMayReview, prices } = runbook;
  const checks = ci.required.map(({ name, run, timeoutMs }) => ({
    name,
    ...(run === undefined ? {} : { run }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  }));
  return {
    ciGate: checks.length > 0,
    checks,
    mergeGate: merge !== undefined,
    ...(merge === undefined ? {} : { merge: { method: merge.method, into: merge.into ?? null } }),
    maxAgents: limits.agents,
    leaveMs: limits.leaveMs,
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

/** Records the workers of a runbook, where they are others than before. */
export async function configureWorkers({ keeper, id, ledger }: Project, runbook: Runbook, log: Log): Promise<void> {
  const [own, all] = [sortedWorkers(runbook), sortedWorkers(withLibrary(runbook))];
  if (holdsCredential(all, ledger.secrets)) {
    log.error('a worker of the runbook holds what looks like a credential, and is not used', { project: id });
    return;
  }
  const settled = await keeper.submit<unknown>({
    actor: 'system:daemon',
    decide: ({ state, rules }) => {
      const workers = hasWorkflows(state) ? all : own;
      return isSame([...state.workers.values()], workers)
        ? { ok: true, events: [], answer: null }
        : decide(state, { kind: 'configure-workers', command: { workers } }, SYSTEM, rules);
    },
  });
  if (settled.ok) return;
  const cause = 'refusal' in settled ? settled.refusal.message : settled.problem.message;
  log.error('the workers of the runbook cannot be recorded', { project: id, cause });
}

export function sortedWorkers(runbook: Runbook): WorkerPlan[] {
  return workerPlans(runbook).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those of the built-in workflow work from the first workflow on; a project without any has only its own. */
function hasWorkflows({ tasks }: State): boolean {
  return [...tasks.values()].some(({ flow }) => flow.mode !== null);
}

const SYSTEM = { kind: 'system', name: 'daemon' } as const;

/** The ledger gives fields back in another order than they were written in. */
function isSame(before: readonly WorkerPlan[], now: readonly WorkerPlan[]): boolean {
  const [a, b] = [canonicalJson(before), canonicalJson(now)];
  return a.ok && b.ok && a.value === b.value;
}
