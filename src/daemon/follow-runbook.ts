import { canonicalJson } from '../ledger/canonical-json.ts';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import { withLibrary } from '../runbook/library.ts';
import { decide } from '../state/decide.ts';
import type { State } from '../state/state.ts';
import type { Log } from './log.ts';
import type { PinnedRunbook } from './pinned-runbook.ts';
import { sortedWorkers } from './rules-of.ts';
import type { Project } from './project.ts';

/** Records the workers of the runbook in force, if they differ from those on record. */
export async function configureWorkers(
  { keeper, id }: Project,
  { runbook, holdsCredential }: Pick<PinnedRunbook, 'runbook' | 'holdsCredential'>,
  log: Log,
): Promise<void> {
  const [own, all] = [sortedWorkers(runbook), sortedWorkers(withLibrary(runbook))];
  if (holdsCredential) {
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
