import { isAncestor } from '../git/commits.ts';
import { advanceBranch } from '../git/merge/advance-branch.ts';
import { treeOf } from '../git/merge/combine.ts';
import { findSha } from '../git/repository.ts';
import { failed } from '../github/call-api.ts';
import { checkMerged, fetchBase, type MergeScene } from './check-merged.ts';
import { tryAgain } from './github.ts';
import type { Ended } from './merge-end.ts';
import type { World } from './world.ts';

/**
 * The merge commit, as it is on the main branch now. Where somebody pushed there in the instant between the last look and the merge, it is
 * not what was checked: then it is checked now, and people hear of it if it is broken.
 */
export async function readBack(
  scene: MergeScene,
  sha: string | null,
  trial: string | null,
): Promise<Ended | undefined> {
  const { world, base, signal } = scene;
  const { path } = world;
  if (sha === null)
    return { outcome: 'refused', reason: 'GitHub says that it is merged, and does not say as which commit' };
  const fetched = await tryAgain(async () => {
    const now = await fetchBase(scene);
    return now.ok && (await findSha(path, sha)) === null
      ? failed('github/odd-answer', `${sha} is not on the main branch yet`, '', { isPassing: true })
      : now;
  }, signal);
  if (signal.aborted) return undefined;
  if (!fetched.ok) {
    world.log.error('what was merged at GitHub cannot be fetched', { sha, reason: fetched.problem.message });
    return { outcome: 'merged', merge_sha: sha };
  }
  await followRemote(path, base, fetched.value, world);
  const merged = { outcome: 'merged', base: await findSha(path, `${sha}^1`), merge_sha: sha } as const;
  if (trial === null || (await treeOf(path, sha)) === (await treeOf(path, trial))) return merged;
  const checked = await checkMerged(scene, sha);
  if (checked === undefined) return undefined;
  return checked === 'passed' ? merged : { ...merged, ...checked };
}

/** Our own main branch follows where it can: the next task begins there. Work that is in the way stays as it is. */
async function followRemote(path: string, branch: string, to: string, { log }: World): Promise<void> {
  const from = await findSha(path, `refs/heads/${branch}`);
  if (from === null || from === to) return;
  const isBehind = await isAncestor(path, from, to);
  const moved = isBehind.ok && isBehind.value ? await advanceBranch(path, { branch, from, to }) : undefined;
  if (moved?.ok === true) return;
  const reason = moved?.problem.message ?? 'it has commits of its own';
  log.info('the main branch here does not follow GitHub’s', { branch, reason });
}
