import { quoteForShell } from '../quote-for-shell.ts';
import { findSha } from '../repository.ts';
import { failed, git, type GitResult } from '../run-git.ts';
import { findWorktree } from '../worktrees.ts';

export interface Advance {
  readonly branch: string;
  /** Where it must still stand: what was checked was made from there. */
  readonly from: string;
  readonly to: string;
}

/** `moved`: somebody was faster; the merge must be made and checked anew. */
export type Advanced = 'advanced' | 'moved';

/**
 * Moves a branch on, if it is where it was. Where somebody has it checked out, their files move with it, and what they have not committed
 * stays: git refuses where the two touch the same file, and so do we. Done once already, it is done.
 */
export async function advanceBranch(repository: string, { branch, from, to }: Advance): Promise<GitResult<Advanced>> {
  const ref = `refs/heads/${branch}`;
  const now = await findSha(repository, ref);
  if (now === to) return { ok: true, value: 'advanced' };
  if (now !== from) return { ok: true, value: 'moved' };
  const worktree = await findWorktree(repository, branch);
  if (!worktree.ok) return worktree;
  if (worktree.value === null || worktree.value.isBare || worktree.value.isMissing) {
    const moved = await git(['update-ref', '-m', 'baton: merge', ref, to, from], { cwd: repository });
    if (moved.ok) return { ok: true, value: 'advanced' };
    return (await findSha(repository, ref)) === from ? moved : { ok: true, value: 'moved' };
  }
  const { path } = worktree.value;
  const merged = await git(['merge', '--ff-only', '--quiet', to], { cwd: path, timeoutMs: 600_000 });
  if (merged.ok) return { ok: true, value: 'advanced' };
  const after = await findSha(repository, ref);
  if (after === to) return { ok: true, value: 'advanced' };
  if (after !== from) return { ok: true, value: 'moved' };
  const message = `'${branch}' is checked out at '${path}', and what is not committed there is in the way: ${merged.problem.message}`;
  return failed('git/checkout-in-the-way', message, `Commit or stash it: git -C ${quoteForShell(path)} status`);
}
