import { readCommitsSince, isAncestor } from '../../git/commits.ts';
import { writebackRecords } from '../../state/tasks/task.ts';
import { WRITEBACK_REQUIRED } from '../../state/tasks/writeback.ts';
import type { EffectContext } from '../context.ts';

/**
 * The record names the head that is merged, or an ancestor with nothing but Baton's own commits after it. Those are known from the ledger:
 * what a commit says about its committer proves nothing. `unknown` if the store does not answer.
 */
export async function findMissingRecord(
  { taskId, head }: { readonly taskId: string; readonly head: string },
  world: Pick<EffectContext, 'ownRepository' | 'readState'>,
): Promise<typeof WRITEBACK_REQUIRED | 'unknown' | undefined> {
  const known = await world.readState((state) => {
    const task = state.tasks.get(taskId);
    const records = task === undefined ? [] : writebackRecords(task).map(({ commitSha }) => commitSha.toLowerCase());
    return { records, made: new Set([...state.tasks.values()].map(({ flow }) => flow.mergeSha)) };
  });
  if (known === undefined) return 'unknown';
  const { records, made } = known;
  if (records.includes(head)) return undefined;
  const own = await world.ownRepository.with(head);
  if (!own.ok) return WRITEBACK_REQUIRED;
  for (const sha of records.toReversed()) {
    const ancestor = await isAncestor(own.value, sha, head);
    if (!ancestor.ok || !ancestor.value) continue;
    const later = await readCommitsSince(own.value, sha, head);
    if (later.ok && later.value.every((commit) => made.has(commit))) return undefined;
  }
  return WRITEBACK_REQUIRED;
}
