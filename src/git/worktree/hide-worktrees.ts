import { excludeFromGit } from './hide-from-git.ts';

/** The folder below the main worktree that holds Baton's worktrees. */
export const WORKTREES_FOLDER = '.worktrees';

/** Where a session finds what it is asked to do, below its worktree. */
export const SESSION_FOLDER = '.baton/session';

/** Neither is anybody's to commit. */
export async function excludeWorktrees(commonDir: string): Promise<void> {
  await excludeFromGit(commonDir, `/${WORKTREES_FOLDER}/`, `/${SESSION_FOLDER}/`);
}
