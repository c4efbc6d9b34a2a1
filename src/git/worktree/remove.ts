import { realpath } from 'node:fs/promises';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { readOperatorFilters } from '../own/with-checkout.ts';
import { findPrivateGit } from '../private/find.ts';
import { removePrivateGit } from '../private/remove.ts';
import { syncPrivateGit } from '../private/sync.ts';
import { findMainBranch, findRepository, findSha } from '../repository.ts';
import { attempt, git, gitFailure, type GitResult, unwrap } from '../run-git.ts';
import { describeContent, readWorktreeContent, type WorktreeContent, type WorktreeContentOptions } from './content.ts';
import { removeOrigin } from './origin.ts';
import { findWorktree, listWorktrees } from './worktree.ts';

/**
 * Removes a worktree and its branch only if nothing would be lost. Otherwise reports its content. Returns a null branch
 * if HEAD was detached or on the main branch, or if the branch has moved.
 */
export async function removeWorktree(
  repository: string,
  path: string,
  guard: WorktreeContentOptions,
): Promise<GitResult<{ readonly path: string; readonly branch: string | null }>> {
  return attempt(async () => {
    const worktree = unwrap(await requireLinked(repository, path));
    await syncLeft(guard.stateDir, worktree);
    const content = unwrap(await readWorktreeContent(worktree, guard));
    const kept = describeContent(content);
    if (kept.length > 0) {
      const hint = `See what is in the worktree: git -C ${shellWord(worktree)} status`;
      unwrap(gitFailure('git/worktree-keeps-work', `kept '${worktree}': ${kept.join(', ')}`, hint));
    }
    const place = await findRepository(worktree);
    unwrap(await removePrivateGit(guard.stateDir, worktree));
    // Without --force git checks again, so changes made in the meantime are safe too.
    const remove = [...(await readOperatorFilters(worktree)), 'worktree', 'remove', '--', worktree];
    unwrap(await git(remove, { cwd: repository, timeoutMs: 600_000 }));
    if (place.ok) await removeOrigin(guard.stateDir, place.value);
    return { path: worktree, branch: await removeBranch(repository, content, guard.mainBranch) };
  });
}

/** Syncs commits that a killed supervisor left in the private git directory. If that fails, the worktree stays. */
async function syncLeft(stateDir: string, worktree: string): Promise<void> {
  const left = findPrivateGit(stateDir, worktree);
  if (left !== null) await syncPrivateGit(left);
}

async function requireLinked(repository: string, path: string): Promise<GitResult<string>> {
  const all = await listWorktrees(repository);
  if (!all.ok) return all;
  const real = await realpath(path).catch(() => path);
  const worktree = all.value.find((one) => one.path === real);
  if (worktree === undefined)
    return gitFailure('git/no-worktree', `no worktree at '${path}'`, 'See all worktrees: git worktree list');
  if (worktree.isMain)
    return gitFailure('git/main-worktree', `'${path}' is the main worktree`, 'Only linked worktrees are ever removed.');
  if (!worktree.isLocked) return { ok: true, value: real };
  const hint = `If the lock is not needed: git worktree unlock ${shellWord(path)}`;
  return gitFailure('git/worktree-locked', `the worktree '${path}' is locked`, hint);
}

/** Deletes the branch only at the inspected commit. A later commit keeps it. */
async function removeBranch(
  repository: string,
  { branch, head }: WorktreeContent,
  mainBranch?: string,
): Promise<string | null> {
  if (branch === null || head === null) return null;
  const main = await findMainBranch(repository, mainBranch);
  const elsewhere = await findWorktree(repository, branch);
  if (!main.ok || main.value.name === branch || !elsewhere.ok || elsewhere.value !== null) return null;
  const deleted = await git(['update-ref', '-d', `refs/heads/${branch}`, head], { cwd: repository });
  if (!deleted.ok) return null;
  // Removes the branch's upstream settings, if any.
  await git(['config', '--remove-section', `branch.${branch}`], { cwd: repository, answers: [128] });
  return branch;
}

/** Deletes a branch that is checked out nowhere, if the main branch has all its commits. */
export async function removeMergedBranch(
  repository: string,
  branch: string,
  mainBranch?: string,
): Promise<GitResult<'removed' | 'absent'>> {
  const ref = `refs/heads/${branch}`;
  const head = await findSha(repository, ref);
  if (head === null) return { ok: true, value: 'absent' };
  const main = await findMainBranch(repository, mainBranch);
  if (!main.ok) return main;
  const missing = await git(['rev-list', '--count', head, `^refs/heads/${main.value.name}`, '--'], { cwd: repository });
  if (!missing.ok) return missing;
  if (missing.value.stdout.trim() !== '0' || main.value.name === branch) {
    const message = `kept the branch '${branch}': it has commits that are not merged`;
    return gitFailure('git/worktree-keeps-work', message, `See the commits: git log ${shellWord(branch)}`);
  }
  // Only at the inspected commit: a later commit keeps the branch.
  const deleted = await git(['update-ref', '-d', ref, head], { cwd: repository });
  return deleted.ok ? { ok: true, value: 'removed' } : deleted;
}
