import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { readLiveClaim } from '../fence/fence.ts';
import { git as runGit, type GitOptions, type GitResult, gitText } from '../run-git.ts';
import { type BranchMove, HEADS, type SyncRefusal } from './sync-plan.ts';

/**
 * Moves the task's branch. Without a person's commits the user's branch is where the last sync left it, and any new
 * value is right: agents rewrite their commits. Otherwise only a value that contains those commits is.
 */
export async function moveTaskBranch(
  git: PrivateGit,
  move: BranchMove & { readonly to: string },
): Promise<GitResult<'done' | SyncRefusal>> {
  if (!isClaimLive(git)) return { ok: true, value: 'claim-lost' };
  const moved = await updateBranch(git, move);
  if (moved.ok) return { ok: true, value: 'done' };
  const current = await findBranch(git, move.branch);
  // A kill came before the last sync was recorded.
  if (current === move.to) return { ok: true, value: 'done' };
  // Nobody moved it: git itself failed, and its reason counts.
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

/** Moves, creates or deletes another branch, only if it is as the last sync left it. */
export async function moveOtherBranch(git: PrivateGit, move: BranchMove): Promise<'done' | SyncRefusal> {
  if (!isClaimLive(git)) return 'claim-lost';
  const moved = await updateBranch(git, move);
  return moved.ok ? 'done' : 'taken';
}

export async function findBranch(git: PrivateGit, branch: string): Promise<string | null> {
  const found = await gitText(['rev-parse', '--verify', '--quiet', HEADS + branch], placeOf(git));
  return found.ok && found.value !== '' ? found.value : null;
}

/** The content of the worktree's HEAD file, or what it would be in another format of refs. */
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

/** Named folders instead of discovery: the worktree is the agent's. Without the worktree, the repository remains. */
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

function isClaimLive({ fence }: PrivateGit): boolean {
  return fence === null || readLiveClaim(fence.livePath)?.epoch === fence.epoch;
}
