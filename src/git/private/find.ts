import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { readKnown } from './known.ts';

/** Finds the private git directory of a worktree, even after a crash; null if there is none. */
export function findPrivateGit(stateDir: string, worktree: string): PrivateGit | null {
  return readKnown(privateGitFolder(stateDir, worktree))?.git ?? null;
}

export function privateGitFolder(stateDir: string, worktree: string): string {
  return join(stateDir, 'private-git', createHash('sha256').update(realOr(worktree)).digest('hex').slice(0, 16));
}

/** The folder of a removed worktree may still exist. */
function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
