import { isOnFirstParents } from '../../git/commits.ts';
import { hasCompleteCommit, type OwnRepository } from '../../git/own/own-repository.ts';
import type { Effect } from '../../state/runs/effect.ts';
import type { EffectContext } from '../context.ts';

export interface PreparedMerge {
  readonly sha: string;
  readonly base: string;
  /** The branch has moved to it: the daemon ended before it could record so. */
  readonly isOnBranch: boolean;
}

/**
 * The merge commit that was recorded before a crash, if the branch has it or can still move to it. It is found by its name on the first-parent
 * history of the branch; what commits say about themselves counts for nothing. `unknown` if the store does not answer.
 */
export async function findPrepared(
  { taskId, mergeId }: Extract<Effect, { kind: 'merge' }>,
  { own, branch, onto }: { readonly own: OwnRepository; readonly branch: string; readonly onto: string },
  world: Pick<EffectContext, 'readState'>,
): Promise<PreparedMerge | 'unknown' | undefined> {
  const merge = await world.readState((state) => state.tasks.get(taskId)?.flow.merge ?? null);
  if (merge === undefined) return 'unknown';
  const prepared = merge?.id === mergeId ? merge.prepared : undefined;
  if (prepared === undefined || prepared.branch !== branch) return undefined;
  const { sha, base } = prepared;
  const found = await isOnFirstParents(own, { sha, since: base, head: onto });
  if (found.ok && found.value) return { sha, base, isOnBranch: true };
  // It was checked, and the branch is where it was: nothing need be made again.
  return base === onto && hasCompleteCommit(own, sha) ? { sha, base, isOnBranch: false } : undefined;
}
