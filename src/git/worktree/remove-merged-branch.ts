import { quoteForShell } from '../quote-for-shell.ts';
import { findMainBranch, findSha } from '../repository.ts';
import { gitFailure, git, type GitResult } from '../run-git.ts';

/** Deletes a branch that is checked out nowhere, if the main branch has all of its commits. */
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
    const hint = `Look at it: git log ${quoteForShell(branch)}`;
    return gitFailure(
      'git/worktree-keeps-work',
      `kept the branch '${branch}': it has commits that are not merged`,
      hint,
    );
  }
  // At the commit that was looked at: a commit made meanwhile keeps its branch.
  const deleted = await git(['update-ref', '-d', ref, head], { cwd: repository });
  return deleted.ok ? { ok: true, value: 'removed' } : deleted;
}
