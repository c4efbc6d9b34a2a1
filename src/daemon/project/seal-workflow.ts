import { sealLedger } from '../../ledger/writer/seal.ts';
import type { Log } from '../log.ts';
import type { Project } from './project.ts';

/** Seals the end of a workflow. It is owed until the seal is on record: whoever could not is asked again, by this daemon or the next. */
export async function sealWorkflow({ commandLoop: keeper, ledger, id }: Project, log: Log): Promise<void> {
  // What belongs to the same moment is sealed with it.
  await keeper.whenIdle();
  const sealed = await sealLedger(ledger, 'system:workflow');
  if (!sealed.ok)
    log.error('the end of a workflow could not be sealed', { project: id, cause: sealed.problem.message });
}
