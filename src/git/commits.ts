import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { git, gitLines, type GitLocation, type GitResult, gitText, type OwnGitFolder } from './run-git.ts';

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

/** The files that differ between two commits. A rename is a file gone and a file come: content is what counts here. */
export async function readChangedPaths(
  repository: GitLocation,
  from: string,
  to: string,
): Promise<GitResult<string[]>> {
  const asked = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--end-of-options', from, to, '--'];
  const names = await git(asked, { cwd: repository, maxBytes: 64 * 1024 * 1024 });
  return names.ok ? { ok: true, value: names.value.stdout.split('\0').filter((path) => path !== '') } : names;
}

export type ChangeSide = 'before' | 'after' | 'between';

/**
 * Which side of a change (`from` → `to`) another commit has: `after` where every file is as the change left it, `before`
 * where every file is as it was without the change. A change of nothing is on no side.
 */
export async function readChangeSide(
  repository: GitLocation,
  from: string,
  to: string,
  other: string,
): Promise<GitResult<ChangeSide>> {
  const changed = await readChangedPaths(repository, from, to);
  if (!changed.ok || changed.value.length === 0) return changed.ok ? { ok: true, value: 'between' } : changed;
  const same = async (side: string): Promise<GitResult<boolean>> => {
    const differing = await readChangedPaths(repository, side, other);
    if (!differing.ok) return differing;
    const paths = new Set(differing.value);
    return { ok: true, value: changed.value.every((path) => !paths.has(path)) };
  };
  const after = await same(to);
  if (!after.ok || after.value) return after.ok ? { ok: true, value: 'after' } : after;
  const before = await same(from);
  return before.ok ? { ok: true, value: before.value ? 'before' : 'between' } : before;
}

export interface Diff {
  readonly stat: string;
  /** Null if it was not asked for, or is too large to show. */
  readonly diff: string | null;
}

/** What differs between two commits of Baton's own repository, for people and agents to read. */
export async function readDiff(own: OwnGitFolder, from: string, to: string, whole = true): Promise<Diff> {
  const [stat, diff] = await Promise.all([
    gitText([...DIFF, '--stat=100', from, to, '--'], { cwd: own }),
    whole ? gitText([...DIFF, from, to, '--'], { cwd: own }) : null,
  ]);
  return { stat: stat.ok ? stat.value : '', diff: diff?.ok === true ? diff.value : null };
}

/** No attribute is read in a bare repository: a file that is marked `-diff` or `binary` is shown as the text that it is. */
const DIFF = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];
