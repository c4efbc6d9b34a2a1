import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { git, gitLines, type GitResult, type GitLocation } from './run-git.ts';

/** Whether the repository has this commit: its full name, and a commit, not a tag or a file. */
export async function hasCommit(repository: GitLocation, sha: string): Promise<boolean> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(sha)) return false;
  // What is asked about was made a moment ago and lies in a file of its own: no process is needed to see it.
  if (looseType(repository, sha.toLowerCase()) === 'commit') return true;
  const type = await git(['cat-file', '-t', sha], { cwd: repository });
  return type.ok && type.value.stdout.trim() === 'commit';
}

/** Whether one commit is in the history of another, or is that other. */
export async function isAncestor(repository: GitLocation, sha: string, of: string): Promise<GitResult<boolean>> {
  const asked = ['merge-base', '--is-ancestor', '--end-of-options', sha, of];
  const answer = await git(asked, { cwd: repository, answers: [1] });
  return answer.ok ? { ok: true, value: answer.value.code === 0 } : answer;
}

/** The commits that are in the history of `head` and not of `base`, oldest first, at most `max` (the newest ones). */
export function readCommitsSince(
  repository: GitLocation,
  base: string,
  head: string,
  max = 10_000,
): Promise<GitResult<string[]>> {
  const asked = ['rev-list', '--reverse', '--topo-order', `--max-count=${max}`, '--end-of-options', head, `^${base}`];
  return gitLines([...asked, '--'], { cwd: repository });
}

/** Whether a branch at `head` came to a commit itself, after `since`: by its first parents, and not by a merge of something else. */
export async function isOnFirstParents(
  repository: GitLocation,
  { sha, since, head }: { readonly sha: string; readonly since: string; readonly head: string },
): Promise<GitResult<boolean>> {
  const asked = ['rev-list', '--first-parent', '--end-of-options', head, `^${since}`, '--'];
  const trunk = await gitLines(asked, { cwd: repository });
  return trunk.ok ? { ok: true, value: trunk.value.includes(sha) } : trunk;
}

/** Where two histories part; null where they have nothing in common. */
export async function findMergeBase(
  repository: GitLocation,
  one: string,
  other: string,
): Promise<GitResult<string | null>> {
  const asked = ['merge-base', '--end-of-options', one, other];
  const base = await git(asked, { cwd: repository, answers: [1] });
  return base.ok ? { ok: true, value: base.value.stdout.trim() || null } : base;
}

/**
 * The first bytes of a loose object say what it is. Anything unusual (a linked worktree, a packed object) is left to git. It is read at
 * once: a trip through the thread pool takes ten times as long as the read.
 */
function looseType(repository: GitLocation, sha: string): string | null {
  if (typeof repository !== 'string') return null;
  const path = join(repository, '.git', 'objects', sha.slice(0, 2), sha.slice(2));
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const buffer = Buffer.alloc(64);
    const start = inflateSync(buffer.subarray(0, readSync(file, buffer)), { finishFlush: constants.Z_SYNC_FLUSH });
    return /^([a-z]+) [0-9]+\0/.exec(start.toString('latin1', 0, 32))?.[1] ?? null;
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
