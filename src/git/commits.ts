import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { git, gitFields, gitLines, type GitLocation, type GitResult, gitText, type OwnGitFolder } from './run-git.ts';

export async function hasCommit(repository: GitLocation, sha: string): Promise<boolean> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(sha)) return false;
  // New commits are loose objects, which can be read without a git process.
  if (looseType(repository, sha.toLowerCase()) === 'commit') return true;
  const type = await git(['cat-file', '-t', sha], { cwd: repository });
  return type.ok && type.value.stdout.trim() === 'commit';
}

/** Whether a commit is in the history of another, or equal to it. */
export async function isAncestor(repository: GitLocation, sha: string, of: string): Promise<GitResult<boolean>> {
  const args = ['merge-base', '--is-ancestor', '--end-of-options', sha, of];
  const answer = await git(args, { cwd: repository, answers: [1] });
  return answer.ok ? { ok: true, value: answer.value.code === 0 } : answer;
}

/** The commits in the history of `head` and not of `base`, oldest first; at most the newest `max`. */
export function readCommitsSince(
  repository: GitLocation,
  base: string,
  head: string,
  max = 10_000,
): Promise<GitResult<string[]>> {
  const args = ['rev-list', '--reverse', '--topo-order', `--max-count=${max}`, '--end-of-options', head, `^${base}`];
  return gitLines([...args, '--'], { cwd: repository });
}

/** Whether a branch at `head` reached a commit after `since` by its first parents, not by a merge. */
export async function isOnFirstParents(
  repository: GitLocation,
  { sha, since, head }: { readonly sha: string; readonly since: string; readonly head: string },
): Promise<GitResult<boolean>> {
  const args = ['rev-list', '--first-parent', '--end-of-options', head, `^${since}`, '--'];
  const trunk = await gitLines(args, { cwd: repository });
  return trunk.ok ? { ok: true, value: trunk.value.includes(sha) } : trunk;
}

/** The merge base of two commits; null if they share no history. */
export async function findMergeBase(
  repository: GitLocation,
  one: string,
  other: string,
): Promise<GitResult<string | null>> {
  const args = ['merge-base', '--end-of-options', one, other];
  const base = await git(args, { cwd: repository, answers: [1] });
  return base.ok ? { ok: true, value: base.value.stdout.trim() || null } : base;
}

/**
 * Returns the type of a loose object. Packed objects and linked worktrees are left to git. Synchronous, because the
 * thread pool takes ten times as long.
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

/** The files that differ between two commits. A rename counts as a deleted and an added file. */
export function readChangedPaths(repository: GitLocation, from: string, to: string): Promise<GitResult<string[]>> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--end-of-options', from, to, '--'];
  return gitFields(args, { cwd: repository, maxBytes: 64 * 1024 * 1024 });
}

export type ChangeSide = 'before' | 'after' | 'between';

/**
 * Compares `other` with a change from `from` to `to`. `after`: every changed file is as in `to`; `before`: as in
 * `from`; `between` otherwise, and for an empty change.
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
  /** Null if the diff was not requested or is too large. */
  readonly diff: string | null;
}

export async function readDiff(own: OwnGitFolder, from: string, to: string, whole = true): Promise<Diff> {
  const [stat, diff] = await Promise.all([
    gitText([...DIFF, '--stat=100', from, to, '--'], { cwd: own }),
    whole ? gitText([...DIFF, from, to, '--'], { cwd: own }) : null,
  ]);
  return { stat: stat.ok ? stat.value : '', diff: diff?.ok === true ? diff.value : null };
}

/** A bare repository applies no attributes, so files marked `-diff` or `binary` are shown as text. */
const DIFF = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];
