import type { GitResult } from '../../git/run-git.ts';

/** The git remote of the fleet does not answer. That has nothing to do with the task: the effect is tried again. */
export class RemoteAway extends Error {}

/** Throws if the remote does not answer; other failures stay results. */
export function requireRemote<T>(result: GitResult<T>): GitResult<T> {
  if (!result.ok && result.problem.code === 'git/remote-unreachable') throw new RemoteAway(result.problem.message);
  return result;
}
