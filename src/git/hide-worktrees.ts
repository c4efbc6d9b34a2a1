import { hideFromGit } from './hide-from-git.ts';

/** The folder below the main worktree that holds Baton's worktrees. */
export const WORKTREES = '.worktrees';

/** Where a session finds what it is asked to do, below its worktree. */
export const SESSION_FOLDER = '.baton/session';

/** Neither is anybody's to commit. */
export async function hideWorktrees(commonDir: string): Promise<void> {
  await hideFromGit(commonDir, `/${WORKTREES}/`, `/${SESSION_FOLDER}/`);
}
