import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeWhole } from './fence.ts';
import { findRepository, type Repository } from './repository.ts';
import { gitText, type GitResult } from './run-git.ts';
import { readConfig } from './worktree-config.ts';
import type { Filled } from './fill-worktree.ts';
import { readNote } from './worktree-note.ts';

/** How a worktree was when it had been made and set up, before anybody worked in it: what is found there later is judged by this. */
export interface WorktreeOrigin extends Filled {
  /** The rules of what git ignores that no commit has: the repository's `info/exclude`, and the file of whoever owns the machine. */
  readonly excludes: string;
  /** Not all files of a commit are checked out. */
  readonly isSparse: boolean;
}

/** Where nothing is known, nothing is vouched for: what it would excuse counts as somebody's work. */
export const NO_ORIGIN: WorktreeOrigin = { excludes: '', isSparse: false, copied: {}, linked: [] };

/**
 * Remembers how a worktree is now, the first time; later only what was copied or linked since. In the state folder, since whoever works
 * in the worktree may write in its git folder.
 */
export async function keepOrigin(stateDir: string, worktree: string, filled: Filled): Promise<GitResult<void>> {
  const found = await findRepository(worktree);
  if (!found.ok) return found;
  const { gitDir } = found.value;
  const known = findOrigin(stateDir, gitDir);
  const origin = known ?? (await look(worktree, found.value));
  if (!('excludes' in origin)) return origin;
  const copied = { ...origin.copied, ...filled.copied };
  const linked = [...new Set([...origin.linked, ...filled.linked])];
  const path = originPath(stateDir, gitDir);
  mkdirSync(join(stateDir, 'worktrees'), { recursive: true, mode: 0o700 });
  writeWhole(path, JSON.stringify({ ...origin, copied, linked, of: identityOf(gitDir) }));
  return { ok: true, value: undefined };
}

/** How the worktree with this git folder was. */
export function readOrigin(stateDir: string, gitDir: string): WorktreeOrigin {
  return findOrigin(stateDir, gitDir) ?? NO_ORIGIN;
}

export function forgetOrigin(stateDir: string, gitDir: string): void {
  rmSync(originPath(stateDir, gitDir), { force: true });
}

/** Names are used again: one that was kept of an earlier worktree of this name says nothing. */
function findOrigin(stateDir: string, gitDir: string): WorktreeOrigin | undefined {
  try {
    const kept: unknown = JSON.parse(readFileSync(originPath(stateDir, gitDir), 'utf8'));
    if (typeof kept !== 'object' || kept === null || !('of' in kept)) return undefined;
    const { of, ...origin } = kept;
    return of === identityOf(gitDir) ? { ...NO_ORIGIN, ...origin } : undefined;
  } catch {
    return undefined;
  }
}

/** Nobody has worked there yet: what was noted in its git folder is Baton's own. */
async function look(
  worktree: string,
  { gitDir, commonDir }: Repository,
): Promise<WorktreeOrigin | Extract<GitResult<never>, { ok: false }>> {
  const sparse = await readConfig(worktree, ['--type=bool'], 'core.sparseCheckout');
  if (!sparse.ok) return sparse;
  const own = await gitText(['config', '--type=path', '--get', 'core.excludesFile'], { cwd: worktree });
  const path = own.ok && own.value !== '' ? resolve(worktree, own.value) : usersFile();
  const texts = [path, join(commonDir, 'info', 'exclude')].map(async (file) => readFile(file, 'utf8').catch(() => ''));
  const { copied, linked } = readNote(gitDir);
  return { copied, linked, excludes: (await Promise.all(texts)).join('\n'), isSparse: sparse.value === 'true' };
}

function usersFile(): string {
  return join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore');
}

function originPath(stateDir: string, gitDir: string): string {
  return join(stateDir, 'worktrees', `${createHash('sha256').update(gitDir).digest('hex').slice(0, 32)}.json`);
}

function identityOf(gitDir: string): string {
  const { ino, birthtimeMs } = statSync(gitDir);
  return `${ino}-${Math.trunc(birthtimeMs)}`;
}
