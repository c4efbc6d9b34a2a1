import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { readLiveClaim } from '../fence/fence.ts';
import { git as runGit, type GitOptions, type GitResult, gitText } from '../run-git.ts';
import { type BranchMove, HEADS, type SyncRefusal } from './sync-plan.ts';

/**
 * Moves the task's branch. If no person has committed, the user's branch is where the last sync left it, and any new
 * value is accepted, because agents rewrite their commits. Otherwise only a value that contains the person's commits is
 * accepted.
 */
export async function moveTaskBranch(
  git: PrivateGit,
  move: BranchMove & { readonly to: string },
): Promise<GitResult<'done' | SyncRefusal>> {
  if (!isClaimLive(git)) return { ok: true, value: 'claim-lost' };
  const moved = await updateBranch(git, move);
  if (moved.ok) return { ok: true, value: 'done' };
  const current = await findBranch(git, move.branch);
  // The process was killed before it recorded the last sync.
  if (current === move.to) return { ok: true, value: 'done' };
  // The branch has not moved, so git itself failed, for the reported reason.
  if (current === move.from) return moved;
  if (current === null) return { ok: true, value: 'gone' };
  const args = ['merge-base', '--is-ancestor', current, move.to];
  const contained = await runGit(args, { ...placeOf(git), answers: [1] });
  if (!contained.ok) return contained;
  if (contained.value.code !== 0) return { ok: true, value: 'diverged' };
  if (!isClaimLive(git)) return { ok: true, value: 'claim-lost' };
  const again = await updateBranch(git, { ...move, from: current });
  return again.ok ? { ok: true, value: 'done' } : again;
}

/** Moves, creates or deletes another branch, if it is unchanged since the last sync. */
export async function moveOtherBranch(git: PrivateGit, move: BranchMove): Promise<'done' | SyncRefusal> {
  if (!isClaimLive(git)) return 'claim-lost';
  const moved = await updateBranch(git, move);
  return moved.ok ? 'done' : 'taken';
}

export async function findBranch(git: PrivateGit, branch: string): Promise<string | null> {
  const found = await gitText(['rev-parse', '--verify', '--quiet', HEADS + branch], placeOf(git));
  return found.ok && found.value !== '' ? found.value : null;
}

/** Returns the content of the worktree's HEAD file, or the equivalent in another ref format. */
export async function readWorktreeHead(gitDir: string): Promise<string> {
  const path = join(gitDir, 'HEAD');
  const head = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (head !== 'ref: refs/heads/.invalid') return head;
  const options = { cwd: gitDir, env: { GIT_DIR: gitDir } };
  const symbolic = await gitText(['symbolic-ref', '--quiet', 'HEAD'], options);
  if (symbolic.ok) return `ref: ${symbolic.value}`;
  const detached = await gitText(['rev-parse', '--verify', '--quiet', 'HEAD'], options);
  return detached.ok ? detached.value : '';
}

/**
 * Names the folders instead of letting git discover them, because the worktree is the agent's. Without the worktree,
 * the repository remains.
 */
export function placeOf({ at, commonDir }: PrivateGit): GitOptions {
  const gitDir = existsSync(at) ? at : commonDir;
  return { cwd: gitDir, env: { GIT_DIR: gitDir } };
}

async function updateBranch(git: PrivateGit, { branch, from, to }: BranchMove): Promise<GitResult<unknown>> {
  const command = ['update-ref', '--no-deref', '-m', 'baton: from the sandbox'];
  const change = to === null ? ['-d', HEADS + branch, from ?? ''] : [HEADS + branch, to, from ?? NOWHERE];
  return runGit([...command, ...change], placeOf(git));
}

/** Git's notation for a branch that must not exist yet. */
const NOWHERE = '';

/** A git directory closes with its claim: what a session writes into it afterwards is not imported. */
export function isClaimLive({ fence }: PrivateGit): boolean {
  return fence === null || readLiveClaim(fence.livePath)?.epoch === fence.epoch;
}
