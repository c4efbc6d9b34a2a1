import type { GitResult } from '../../git/run-git.ts';

/** The fleet's git remote does not answer. That is not the task's fault, so the effect is retried. */
export class RemoteAway extends Error {}

/** Throws if the remote does not answer; other failures stay results. */
export function requireRemote<T>(result: GitResult<T>): GitResult<T> {
  if (!result.ok && result.problem.code === 'git/remote-unreachable') throw new RemoteAway(result.problem.message);
  return result;
}
