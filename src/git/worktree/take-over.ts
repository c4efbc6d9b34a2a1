import { worktreeFolder } from './branch-name.ts';
import { createWorktree, type NewWorktree } from './create.ts';
import { git, type GitResult } from '../run-git.ts';
import { findWorktree } from './worktree.ts';

/**
 * Goes on with a branch in a worktree of its own, beside the one of an earlier holder who may still be alive. The earlier
 * worktree keeps its files and its commit, but is taken off the branch: two who write in one folder cannot be told apart.
 */
export async function createTakeoverWorktree(
  folder: string,
  { stateDir, branch, epoch }: { readonly stateDir: string; readonly branch: string; readonly epoch: number },
): Promise<GitResult<NewWorktree>> {
  const earlier = await findWorktree(folder, branch);
  if (!earlier.ok) return earlier;
  if (earlier.value !== null && !earlier.value.isMissing && earlier.value.head !== null) {
    // Not `git checkout --detach`: that needs the index, which a frozen process may have locked.
    const detach = ['update-ref', '--no-deref', '-m', `baton: epoch ${epoch} goes on elsewhere`, 'HEAD'];
    const detached = await git([...detach, earlier.value.head], { cwd: earlier.value.path });
    if (!detached.ok) return detached;
  }
  const beside = earlier.value === null ? {} : { folder: `${worktreeFolder(branch)}-e${epoch}`, beside: true };
  return createWorktree(folder, { stateDir, branch, base: branch, existingBranch: 'continue', hold: true, ...beside });
}
