import { rm } from 'node:fs/promises';
import { git, type GitResult } from '../run-git.ts';

/**
 * A worktree of exactly one commit, in a folder that is Baton's own, for commands that must see nothing else. It belongs to nobody, so
 * unlike all other worktrees it may be thrown away with whatever the commands left in it.
 */
export async function makeCleanCheckout(repository: string, sha: string, folder: string): Promise<GitResult<string>> {
  const gone = await removeCleanCheckout(repository, folder);
  if (!gone.ok) return gone;
  // The user's hooks are theirs, and this is not their checkout.
  const add = [
    '-c',
    'core.hooksPath=/dev/null',
    'worktree',
    'add',
    '--quiet',
    '--force',
    '--detach',
    '--',
    folder,
    sha,
  ];
  const added = await git(add, { cwd: repository, timeoutMs: 600_000 });
  return added.ok ? { ok: true, value: folder } : added;
}

/** Removes it; one that is not there is removed already. Git's list of worktrees is only touched where it names this folder. */
export async function removeCleanCheckout(repository: string, folder: string): Promise<GitResult<null>> {
  const asked = ['worktree', 'remove', '--force', '--force', '--', folder];
  const removed = await git(asked, { cwd: repository, timeoutMs: 600_000, answers: [128] });
  if (!removed.ok) return removed;
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  return { ok: true, value: null };
}
