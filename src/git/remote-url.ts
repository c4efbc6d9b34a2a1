import { resolve } from 'node:path';
import { gitFailure, type GitResult } from './run-git.ts';
import { readConfig } from './worktree-config.ts';

/** The address of a remote, for a git that runs elsewhere. Of the remote's settings only this one is read: others name programs. */
export async function findRemoteUrl(
  repository: string,
  remote: string,
  to: 'fetch' | 'push',
): Promise<GitResult<string>> {
  for (const name of to === 'push' ? ['pushurl', 'url'] : ['url']) {
    const url = await readConfig(repository, [], `remote.${remote}.${name}`);
    if (!url.ok) return url;
    if (url.value !== null) return { ok: true, value: isPath(url.value) ? resolve(repository, url.value) : url.value };
  }
  return gitFailure('git/remote-unreachable', `there is no remote '${remote}'`, 'See them all: git remote -v');
}

/** Git takes for a path what has no scheme, and no host before a colon. */
export function isPath(url: string): boolean {
  return !/^[a-z0-9+]+:\/\//i.test(url) && !/^[^/]*:/.test(url);
}
