import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import type { OwnRepository } from '../own/own-repository.ts';
import { exportCommit } from '../own/transfer-commits.ts';
import { findSha } from '../repository.ts';
import { git, gitFailure, type GitFailure, type GitResult } from '../run-git.ts';
import { findWorktree } from '../worktree/worktree.ts';
import { moveCheckout } from './move-checkout.ts';

export interface AdvanceRequest {
  readonly branch: string;
  /** The branch must still be at this commit, from which the checked merge was made. */
  readonly from: string;
  readonly to: string;
}

/** `moved`: the branch has changed in the meantime, so the merge must be made and checked again. */
export type AdvanceResult = 'advanced' | 'moved';

/**
 * Moves a branch of the user's repository if it has not changed. Adds the objects, updates the files of a checkout,
 * then moves the branch by compare-and-swap. If files cannot be written, or the branch has moved, the files are
 * restored. Uncommitted changes in other files stay; in the same files they prevent the move. Idempotent.
 */
export async function advanceBranch(own: OwnRepository, advance: AdvanceRequest): Promise<GitResult<AdvanceResult>> {
  const { branch, from, to } = advance;
  const { path: repository } = own.source;
  const ref = `refs/heads/${branch}`;
  const now = await findSha(repository, ref);
  if (now === to) return { ok: true, value: 'advanced' };
  if (now !== from) return { ok: true, value: 'moved' };
  const exported = await exportCommit(own, { sha: to, onto: from });
  if (!exported.ok) return exported;
  const worktree = await findWorktree(repository, branch);
  if (!worktree.ok) return worktree;
  if (worktree.value === null || worktree.value.isBare || worktree.value.isMissing)
    return moveRef(repository, ref, advance);
  const { path } = worktree.value;
  let swapped: GitResult<AdvanceResult> | undefined;
  const act = async (): Promise<GitResult<AdvanceResult>> => (swapped = await moveRef(path, ref, advance));
  const moved = await moveCheckout(own, path, advance, { act, isDone: (value) => value === 'advanced' });
  // A failed ref update is unrelated to the files.
  return moved.ok || moved === swapped ? moved : worktreeHasBranch(branch, path, moved);
}

async function moveRef(folder: string, ref: string, { from, to }: AdvanceRequest): Promise<GitResult<AdvanceResult>> {
  const args = ['update-ref', '-m', 'baton: merge', ref, to, from];
  const moved = await git(args, { cwd: folder });
  if (moved.ok) return { ok: true, value: 'advanced' };
  return (await findSha(folder, ref)) === from ? moved : { ok: true, value: 'moved' };
}

function worktreeHasBranch(branch: string, path: string, { problem }: GitFailure): GitFailure {
  if (problem.code !== 'git/failed') return { ok: false, problem };
  const message = `'${branch}' is checked out at '${path}', and uncommitted changes there block the merge: ${problem.message}`;
  return gitFailure('git/checkout-in-the-way', message, `Commit or stash it: git -C ${shellWord(path)} status`);
}
