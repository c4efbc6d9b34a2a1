import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rewriteFile } from '../fence/fence.ts';

/** What Baton put into a worktree besides what git has; kept in the worktree's own git folder, where no session works. */
export interface WorktreeNote {
  /** Nobody else's, as long as the worktree is there. */
  readonly port: number | null;
  /** What was copied, by path, and its digest then. */
  readonly copied: Readonly<Record<string, string>>;
  readonly linked: readonly string[];
  /** The set-up command that has run in it. */
  readonly setup: string | null;
}

export const EMPTY_WORKTREE_NOTE: WorktreeNote = { port: null, copied: {}, linked: [], setup: null };

const NOTE_FILE = 'baton-workspace.json';

/** A note that is missing or broken says nothing: what it would vouch for counts as somebody's work. */
export function readWorktreeNote(gitDir: string): WorktreeNote {
  const path = join(gitDir, NOTE_FILE);
  if (!existsSync(path)) return EMPTY_WORKTREE_NOTE;
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? { ...EMPTY_WORKTREE_NOTE, ...value } : EMPTY_WORKTREE_NOTE;
  } catch {
    return EMPTY_WORKTREE_NOTE;
  }
}

export function writeWorktreeNote(gitDir: string, note: WorktreeNote): void {
  rewriteFile(join(gitDir, NOTE_FILE), `${JSON.stringify(note)}\n`);
}
