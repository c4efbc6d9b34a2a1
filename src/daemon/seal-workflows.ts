import type { Entry } from '../ledger/entry.ts';
import { sealLedger } from '../ledger/seal.ts';
import type { Log } from './log.ts';
import type { Project } from './project.ts';

/** The end of a workflow is sealed: from then on what led to it cannot be told otherwise. */
export async function sealWorkflows(
  { keeper, ledger, id }: Project,
  entries: readonly Entry[],
  log: Log,
): Promise<void> {
  if (!entries.some(isClosing)) return;
  // What belongs to the same moment is sealed with it.
  await keeper.idle();
  const sealed = await sealLedger(ledger, 'system:workflow');
  if (!sealed.ok)
    log.error('the end of a workflow could not be sealed', { project: id, cause: sealed.problem.message });
}

function isClosing({ type, data }: Entry): boolean {
  return (
    type === 'PhaseMoved' && data['from'] === 'COMPLETED' && data['to'] === 'COMPLETED' && data['next_role'] === null
  );
}
