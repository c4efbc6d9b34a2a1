import { canonicalJson } from '../../ledger/format/canonical-json.ts';
import type { WorkerPlan } from '../../protocol/run-plan.ts';
import { withLibrary } from '../../runbook/library.ts';
import { decide } from '../../state/decide.ts';
import { decided, type Outcome } from '../../state/outcome.ts';
import { findAdoption } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { Log } from '../log.ts';
import type { DecideContext } from '../loop/request.ts';
import type { Project } from '../project/project.ts';
import type { PinnedRunbook } from './pinned-runbook.ts';
import { sortedWorkers } from './rulebook.ts';
import { startsWorkflows } from './start-obstacles.ts';

export async function configureWorkers(
  { commandLoop, id }: Project,
  { runbook, holdsCredential }: Pick<PinnedRunbook, 'runbook' | 'holdsCredential'>,
  log: Log,
): Promise<void> {
  const [own, all] = [sortedWorkers(runbook), sortedWorkers(withLibrary(runbook))];
  if (holdsCredential) {
    log.error('a worker of the runbook holds what looks like a credential, and is not used', { project: id });
    return;
  }
  const settled = await commandLoop.submit<unknown>({
    actor: 'system:daemon',
    decide: (view) => decideWorkers(view, startsWorkflows(runbook) || hasWorkflows(view.state) ? all : own),
  });
  if (settled.ok) return;
  const cause = 'refusal' in settled ? settled.refusal.message : settled.problem.message;
  log.error('the workers of the runbook cannot be recorded', { project: id, cause });
}

type DecidedOn = Pick<DecideContext, 'state' | 'rules' | 'here'>;

/**
 * Records the workers in the commit that starts the workflow. Otherwise the workers of an earlier runbook would claim
 * the new task first.
 */
export function withWorkers<A>(
  started: Outcome<A>,
  { sha256, runbook }: Pick<PinnedRunbook, 'sha256' | 'runbook'>,
  view: DecidedOn,
): Outcome<A> {
  // Another runbook may have been adopted in the meantime.
  if (!started.ok || findAdoption(view.state)?.sha256 !== sha256) return started;
  const configured = decideWorkers(view, sortedWorkers(withLibrary(runbook)));
  // Configured last, because workers must not claim the task before its checkpoint holds it.
  return configured.ok ? { ...started, events: [...started.events, ...configured.events] } : configured;
}

function decideWorkers({ state, rules, here }: DecidedOn, workers: readonly WorkerPlan[]): Outcome<unknown> {
  if (haveSameWorkers([...state.workers.values()], workers)) return decided([], null);
  const command = { kind: 'configure-workers', command: { workers } } as const;
  return decide(state, command, { kind: 'system', name: 'daemon' }, rules, here);
}

/** Workers of the built-in workflow are recorded with the first workflow, or before a worker starts one. */
function hasWorkflows({ tasks }: State): boolean {
  return [...tasks.values()].some(({ flow }) => flow.mode !== null);
}

/** Compares the canonical form, because the ledger returns fields in another order. */
function haveSameWorkers(before: readonly WorkerPlan[], now: readonly WorkerPlan[]): boolean {
  const [a, b] = [canonicalJson(before), canonicalJson(now)];
  return a.ok && b.ok && a.value === b.value;
}
