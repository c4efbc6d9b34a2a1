import { isAncestor, isOnFirstParents } from '../../git/commits.ts';
import { advanceBranch } from '../../git/merge/advance-branch.ts';
import { findTree } from '../../git/merge/combine.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import { findSha } from '../../git/repository.ts';
import { githubFailure } from '../../github/call-api.ts';
import { checkMerged, fetchBase, type PullMergeContext } from './check-merged.ts';
import { renderGithubProblem, retryGithub } from './github.ts';
import type { MergeResult } from './merge-end.ts';
import type { EffectContext } from '../context.ts';

/**
 * The merge commit, as it is on the main branch now. Where somebody pushed there in the instant between the last look and the merge, it is
 * not what was checked: then it is checked now, and people hear of it if it is broken.
 */
export async function readMergeCommit(
  scene: PullMergeContext,
  sha: string | null,
  trial: string | null,
): Promise<MergeResult | undefined> {
  const { world, base, signal } = scene;
  if (sha === null)
    return { outcome: 'refused', reason: 'GitHub says that it is merged, and does not say as which commit' };
  const fetched = await retryGithub(async () => {
    const now = await fetchBase(scene);
    const copied = await world.ownRepository.with();
    return now.ok && copied.ok && (await findSha(copied.value, sha)) === null
      ? githubFailure('github/odd-answer', `${sha} is not on the main branch yet`, '', { isPassing: true })
      : now;
  }, signal);
  if (signal.aborted) return undefined;
  if (!fetched.ok) {
    world.log.error('what was merged at GitHub cannot be fetched', { sha, reason: fetched.problem.message });
    const reason = `GitHub says that it is merged as ${sha}, and Baton cannot see it there: ${renderGithubProblem(fetched.problem)}`;
    return { outcome: 'refused', reason };
  }
  const own = await world.ownRepository.with(fetched.value);
  if (!own.ok) return { outcome: 'refused', reason: renderGithubProblem(own.problem) };
  const before = await findSha(own.value, `${sha}^1`);
  const landed = await isOnFirstParents(own.value, { sha, since: before ?? sha, head: fetched.value });
  if (!landed.ok || !landed.value)
    return { outcome: 'refused', reason: `GitHub says that it is merged as ${sha}, and that is not on ${base} there` };
  await fastForwardMain(own.value, base, fetched.value, world);
  const merged = { outcome: 'merged', base: before, merge_sha: sha } as const;
  if (trial === null || (await findTree(own.value, sha)) === (await findTree(own.value, trial))) return merged;
  const checked = await checkMerged(scene, sha);
  if (checked === undefined) return undefined;
  return checked === 'passed' ? merged : { ...merged, ...checked };
}

/** Our own main branch follows where it can: the next task begins there. Work that is in the way stays as it is. */
async function fastForwardMain(own: OwnRepository, branch: string, to: string, { log }: EffectContext): Promise<void> {
  const from = await findSha(own.source.path, `refs/heads/${branch}`);
  if (from === null || from === to) return;
  const isBehind = await isAncestor(own, from, to);
  const moved = isBehind.ok && isBehind.value ? await advanceBranch(own, { branch, from, to }) : undefined;
  if (moved?.ok === true) return;
  const reason = moved?.problem.message ?? 'it has commits of its own';
  log.info('the main branch here does not follow GitHub’s', { branch, reason });
}
