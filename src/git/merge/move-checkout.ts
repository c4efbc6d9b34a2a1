import { lstat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFaultText } from '../../protocol/resource-faults.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import type { OwnRepository } from '../own/own-repository.ts';
import { withCheckout } from '../own/with-checkout.ts';
import {
  attempt,
  git,
  gitFailure,
  type GitFailure,
  gitFields,
  type GitResult,
  gitText,
  type OwnGitFolder,
  unwrap,
} from '../run-git.ts';
import { CheckoutBackup, type TouchedPath } from './checkout-backup.ts';

export interface CheckoutMove {
  readonly from: string;
  readonly to: string;
}

/** An action to run while the files can still be restored. */
export interface MoveConfirmation<T> {
  readonly act: () => Promise<GitResult<T>>;
  readonly isDone: (value: T) => boolean;
}

/**
 * Moves the files and the index of a user's checkout to another commit, as a fast-forward would, and then runs the
 * action: the branch moves last. The bytes come from Baton's repository, and the configuration of the user's repository
 * has no effect. After any failure, including a full disk, files and index are restored.
 */
export async function moveCheckout<T>(
  own: OwnRepository,
  path: string,
  move: CheckoutMove,
  confirm: MoveConfirmation<T>,
): Promise<GitResult<T>> {
  const { from, to } = move;
  return withCheckout(
    { stateDir: own.stateDir, path, format: own.format, objects: [own.objects] },
    async (place, settings) => {
      const run = async (...args: string[]): Promise<GitResult<unknown>> =>
        git([...settings, ...args], { cwd: place, timeoutMs: 600_000 });
      // Done before the refresh, because a hard link changes the ctime by which git detects changes.
      const kept = await backUpFiles(place, path, move);
      if (!kept.ok) return kept;
      const clear = await findHindrance(run, place, settings, { path, ...move });
      if (clear !== undefined) {
        await kept.value.discard();
        return clear;
      }
      const moved = await run('read-tree', '-m', '-u', from, to);
      const done = moved.ok ? await confirm.act() : await cannotUpdate(path, moved);
      if (done.ok && confirm.isDone(done.value)) {
        await kept.value.discard();
        return done;
      }
      const left = await kept.value.restore(indexOf(place));
      return left.length === 0 ? done : notRestored(path, kept.value.folder, left, done);
    },
  );
}

type Run = (...args: string[]) => Promise<GitResult<unknown>>;
type Checkout = OwnGitFolder & { readonly worktree: string };

async function findHindrance(
  run: Run,
  place: Checkout,
  settings: readonly string[],
  { path, from, to }: CheckoutMove & { readonly path: string },
): Promise<GitFailure | undefined> {
  // A file that was touched but not changed does not prevent the move.
  const refreshed = await run('update-index', '-q', '--refresh');
  if (!refreshed.ok && refreshed.problem.code === 'git/disk') return cannotUpdate(path, refreshed);
  const overwritten = await attempt(async () => findOverwrittenFile(place, settings, { from, to }));
  if (!overwritten.ok) return overwritten;
  if (overwritten.value !== undefined) return wouldOverwrite(place.worktree, overwritten.value);
  const tried = await run('read-tree', '-m', '-u', '--dry-run', from, to);
  return tried.ok ? undefined : tried;
}

async function backUpFiles(
  place: Checkout,
  path: string,
  { from, to }: CheckoutMove,
): Promise<GitResult<CheckoutBackup>> {
  const command = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', from, to, '--'];
  const changed = await gitFields(command, { cwd: place, maxBytes: 64 * 1024 * 1024 });
  if (!changed.ok) return changed;
  const gitDir = await gitText(['rev-parse', '--path-format=absolute', '--git-dir'], { cwd: path });
  if (!gitDir.ok) return gitDir;
  try {
    const touched: TouchedPath[] = [];
    for (let i = 0; i + 1 < changed.value.length; i += 2)
      touched.push({ path: changed.value[i + 1] ?? '', isNew: changed.value[i] === 'A' });
    return { ok: true, value: await CheckoutBackup.keep(place.worktree, gitDir.value, indexOf(place), touched) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return cannotUpdate(path, gitFailure(isDiskFaultText(message) ? 'git/disk' : 'git/failed', message, ''));
  }
}

function indexOf({ env }: OwnGitFolder): string {
  return env?.['GIT_INDEX_FILE'] ?? '';
}

/** Git does not report why a write failed, so the free space is checked. */
async function cannotUpdate(path: string, { problem }: GitFailure): Promise<GitFailure> {
  const isFull = problem.code === 'git/disk' || (await hasNoRoom(path));
  const cause = isFull ? `the disk is full or not writable (${problem.message})` : problem.message;
  const hint = isFull
    ? `Free disk space: df -h ${shellWord(path)}. Then merge again.`
    : `Check who owns the files, and the quota: ls -l ${shellWord(path)}. Then merge again.`;
  const message = `the files of '${path}' cannot be updated: ${cause}. Nothing was merged, and the files are unchanged`;
  return gitFailure('git/checkout-failed', message, hint);
}

async function hasNoRoom(path: string): Promise<boolean> {
  const { bavail, bsize, ffree, files } = await statfs(path);
  return bavail * bsize < LEAST_BYTES || (files > 0 && ffree < LEAST_FILES);
}

const LEAST_BYTES = 1024 * 1024;
const LEAST_FILES = 16;

function notRestored(path: string, folder: string, files: readonly string[], done: GitResult<unknown>): GitFailure {
  const why = done.ok ? 'the branch has moved meanwhile' : done.problem.message;
  const shown = files.slice(0, 5).join(', ') + (files.length > 5 ? ` and ${files.length - 5} more` : '');
  const message = `${why}; these files of '${path}' could not be restored: ${shown}`;
  const hint = `Their old content is in ${folder}: copy it back, do not commit them.`;
  return gitFailure('git/checkout-torn', message, hint);
}

/** A file unknown to git that the move would overwrite; git itself would overwrite ignored ones, such as `.env`. */
async function findOverwrittenFile(
  place: Checkout,
  settings: readonly string[],
  { from, to }: CheckoutMove,
): Promise<string | undefined> {
  const list = async (...args: string[]): Promise<string[]> =>
    unwrap(await gitFields([...settings, ...args], { cwd: place, maxBytes: MOST_BYTES }));
  const changed = await list('diff-tree', '-r', '-z', '--no-renames', '--diff-filter=A', from, to, '--');
  if (changed.length === 0) return undefined;
  const isCaseless =
    process.platform === 'darwin' || settings.some((each) => /^core\.ignorecase=(?:t|y|on|1)/.test(each));
  const fold = (path: string): string => (isCaseless ? path.toLowerCase() : path);
  const known = new Set((await list('ls-files', '-z')).map(fold));
  const clear = new Set<string>();
  for (let i = 0; i + 1 < changed.length; i += 2) {
    const path = changed[i + 1] ?? '';
    // Git itself checks an existing submodule.
    if ((changed[i] ?? '').startsWith(':000000 160000')) continue;
    const parts = path.split('/');
    for (let end = 1; end <= parts.length; end++) {
      const part = parts.slice(0, end).join('/');
      if (clear.has(part)) continue;
      const found = known.has(fold(part)) ? null : await lstat(join(place.worktree, part)).catch(() => null);
      // A missing or indexed path has nothing below it that could be overwritten.
      if (found === null) break;
      if (!found.isDirectory()) return part;
      if (end < parts.length) clear.add(part);
      else {
        const [inside] = await list('--literal-pathspecs', 'ls-files', '--others', '-z', '--', part);
        if (inside !== undefined) return inside;
      }
    }
  }
  return undefined;
}

function wouldOverwrite(worktree: string, path: string): GitFailure {
  const message = `'${path}' in '${worktree}' is not in git, and the merge adds a file of that name`;
  const hint = `Move the file away: mv ${shellWord(join(worktree, path))} ELSEWHERE`;
  return gitFailure('git/checkout-in-the-way', message, hint);
}

const MOST_BYTES = 128 * 1024 * 1024;
