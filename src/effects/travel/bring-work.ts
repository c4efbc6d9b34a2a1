import { hasCommit, isAncestor } from '../../git/commits.ts';
import { advanceBranch } from '../../git/merge/advance-branch.ts';
import { hasCompleteCommit, type OwnRepository } from '../../git/own/own-repository.ts';
import { makeSnapshot } from '../../git/own/snapshot.ts';
import { exportMissing } from '../../git/own/transfer-commits.ts';
import { fetchRef } from '../../git/remote/fetch-ref.ts';
import { findSha } from '../../git/repository.ts';
import { attempt, git, gitFailure, type GitResult, unwrap } from '../../git/run-git.ts';
import { detachWorktree } from '../../git/worktree/create.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import type { PushedWork } from '../../state/fleet/work-place.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';
import { keptRef, travelRef } from './travel-ref.ts';

type BringContext = Pick<EffectContext, 'path' | 'ownRepository' | 'readState' | 'log' | 'here'>;

/** Uncommitted files of the last session, to be restored in the new worktree. */
export interface BroughtFiles {
  readonly own: OwnRepository;
  readonly sha: string;
  readonly head: string;
}

/**
 * Called before a session starts on another host than the last one. Puts the task's branch at the recorded commit.
 * Local commits that the recorded one lacks are kept under a separate ref, and uncommitted files stay in the old
 * worktree. Returns the uncommitted files to restore.
 */
export async function bringWork(
  task: Task,
  { branch, epoch }: { readonly branch: string; readonly epoch: number },
  context: BringContext,
): Promise<GitResult<BroughtFiles | null>> {
  const here = context.here();
  const url = await context.readState((state) => findSharedRemote(state));
  const { work } = task;
  if (here === undefined || !url || work === null || work.host === here.host || work.pushed === null) return NOTHING;
  const { pushed } = work;
  return attempt(async () => {
    const own = await fetchWork(task, pushed, url, context);
    if (own === null) return null;
    unwrap(await exportMissing(own, pushed.sha));
    const isInPlace = await moveBranch(own, task.id, { branch, epoch, to: pushed.sha }, context);
    // The files are still where this host left them.
    if (pushed.wip === null || (isInPlace && pushed.host === here.host)) return null;
    return { own, sha: pushed.wip, head: pushed.sha };
  });
}

const NOTHING = { ok: true, value: null } as const;

/** Returns null if the work was merged and its refs are removed. The next session then starts at the main branch. */
async function fetchWork(
  { id, flow }: Task,
  { sha, wip, epoch }: PushedWork,
  url: string,
  { ownRepository }: BringContext,
): Promise<OwnRepository | null> {
  const wants = [sha, ...(wip === null ? [] : [wip])];
  const found = await ownRepository.with(...wants);
  if (found.ok) return found.value;
  // A server that sends no commit by its id still sends refs.
  const own = unwrap(await ownRepository.with());
  const ref = travelRef(id, epoch);
  for (const name of [ref, ...(wip === null ? [] : [`${ref}-wip`])]) {
    const fetched = await fetchRef(own, { url, ref: name });
    if (!fetched.ok && fetched.problem.code === 'git/no-remote-ref' && flow.mergeSha !== null) return null;
    unwrap(fetched);
  }
  if (wants.every((each) => hasCompleteCommit(own, each))) return own;
  const message = `the git remote has another commit at ${ref} than ${sha}, which is on record`;
  return unwrap(gitFailure('git/other-commit', message, `See who has written it: git ls-remote ${url} ${ref}`));
}

interface BranchTarget {
  readonly branch: string;
  readonly epoch: number;
  readonly to: string;
}

/** Returns whether the branch already existed, with the worktree of an earlier session. */
async function moveBranch(
  own: OwnRepository,
  taskId: string,
  { branch, epoch, to }: BranchTarget,
  { path, ownRepository, log }: BringContext,
): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const local = await findSha(path, ref);
  const worktree = unwrap(await findWorktree(path, branch));
  if (local === to) return worktree !== null;
  const isBehind = local !== null && (await isBefore(ownRepository, local, to));
  if (local !== null && isBehind && worktree !== null && (await isClean(own, worktree.path, local))) {
    const advanced = await advanceBranch(own, { branch, from: local, to });
    if (advanced.ok && advanced.value === 'advanced') return false;
  }
  // The old worktree keeps its files, but is detached from the branch.
  if (worktree !== null && !worktree.isMissing && worktree.head !== null)
    unwrap(await detachWorktree(worktree.path, { head: worktree.head, epoch }));
  if (local !== null && !isBehind) {
    const kept = keptRef(taskId, local);
    unwrap(await git(['update-ref', kept, local], { cwd: path }));
    log.info('commits here that the work on record does not have are kept', { task: taskId, ref: kept });
  }
  unwrap(await git(['update-ref', '-m', 'baton: work of another host', ref, to, local ?? ''], { cwd: path }));
  return false;
}

async function isBefore(ownRepository: BringContext['ownRepository'], local: string, to: string): Promise<boolean> {
  const own = await ownRepository.with(local);
  const before = own.ok ? await isAncestor(own.value, local, to) : own;
  return before.ok && before.value;
}

async function isClean(own: OwnRepository, worktree: string, head: string): Promise<boolean> {
  const taken = await makeSnapshot(own, { worktree, head });
  return taken.ok && taken.value === null;
}

/** Adds a commit to the user's repository if it is missing there, so that a worktree can start at it. */
export async function bringCommit(
  sha: string,
  { path, ownRepository }: Pick<BringContext, 'path' | 'ownRepository'>,
): Promise<GitResult<null>> {
  if (await hasCommit(path, sha)) return NOTHING;
  const own = await ownRepository.with(sha);
  return own.ok ? exportMissing(own.value, sha) : own;
}
