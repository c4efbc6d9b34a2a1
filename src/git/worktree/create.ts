import { join } from 'node:path';
import { type BranchTask, DEFAULT_BRANCH, renderBranch } from '../../protocol/branch-name.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { isGitRef, isRelativePath } from '../../protocol/text/text-format.ts';
import { readFence, readLiveClaim } from '../fence/fence.ts';
import { withCheckout } from '../own/with-checkout.ts';
import { findRepository, findSha } from '../repository.ts';
import { git, gitFailure, type GitFailure, type GitResult, gitText } from '../run-git.ts';
import { excludeWorktrees, WORKTREES_FOLDER } from './ignore-rules.ts';
import { pathExists } from './read-inside.ts';
import {
  CREATION_LOCK_REASON,
  findWorktree,
  listWorktrees,
  unlockCompletedWorktree,
  type Worktree,
} from './worktree.ts';

export interface WorktreeRequest {
  readonly stateDir: string;
  readonly branch: string;
  readonly base: string;
  /** The owner of the branch, if known, for the error message if the branch is taken. */
  readonly owner?: BranchOwner | null;
  /** Whether to use an existing branch that is not checked out. */
  readonly existingBranch?: 'refuse' | 'continue';
  /** The folder below `.worktrees`, if not derived from the branch name. */
  readonly folder?: string;
  /** Whether to keep the creation lock, because the caller still has to install a fence. */
  readonly hold?: boolean;
  /** Allows a second worktree on the branch: the earlier holder has lost the task, and the fence stops it. */
  readonly beside?: boolean;
}

type BranchOwner = { readonly taskId: string; readonly holder: string | null };

export interface NewWorktree {
  readonly path: string;
  readonly branch: string;
  readonly head: string;
}

/** Creates a worktree with its own branch. Never touches existing ones; names their owner instead. */
export async function createWorktree(folder: string, request: WorktreeRequest): Promise<GitResult<NewWorktree>> {
  const { branch, base } = request;
  if (!isGitRef(branch))
    return gitFailure('git/bad-name', `not a branch name: '${branch}'`, 'Choose another branch name.');
  const place = request.folder ?? worktreeFolder(branch);
  if (!isRelativePath(place))
    return gitFailure('git/bad-name', `not a folder name: '${place}'`, 'Choose another folder.');
  const repository = await findRepository(folder);
  if (!repository.ok) return repository;
  const { mainTop, commonDir } = repository.value;
  const cleared = await removeHalfMade(mainTop, branch);
  if (!cleared.ok) return cleared;
  const path = await findFreePath(mainTop, join(mainTop, WORKTREES_FOLDER, place));
  const taken = await findTaken(mainTop, path, request);
  if (taken !== null) return taken;
  const ref = `refs/heads/${branch}`;
  const existing = await findSha(mainTop, ref);
  const head = existing ?? (await findSha(mainTop, base));
  if (head === null) {
    const hint = 'Name a commit or a branch that has one. In a new repository, make the first commit.';
    return gitFailure('git/no-base', `no commit to start from: '${base}'`, hint);
  }
  // If the exclude file cannot be written, the following git commands report why.
  await excludeWorktrees(commonDir).catch(() => undefined);
  // Creates the branch first, atomically: `worktree add -b` may leave it behind after a failure.
  const made = existing === null ? await git(['update-ref', ref, head, NOWHERE], { cwd: mainTop }) : null;
  if (made?.ok === false) return (await findTaken(mainTop, path, request)) ?? conflict(branch, made);
  const force = request.beside === true ? ['--force'] : [];
  const add = ['worktree', 'add', '--quiet', '--no-checkout', '--lock', '--reason', CREATION_LOCK_REASON, ...force];
  const added = await git([...add, '--', path, branch], { cwd: mainTop, timeoutMs: 600_000 });
  const filled = added.ok ? await checkOut(request.stateDir, path, head, commonDir) : added;
  const ended = filled.ok && request.hold !== true ? await release(path) : filled;
  if (ended.ok) return { ok: true, value: { path, branch, head } };
  if (added.ok) await git([...REMOVE, path], { cwd: mainTop, timeoutMs: 600_000 });
  if (made !== null) await git(['update-ref', '-d', ref, head], { cwd: mainTop });
  // Another process may have created it in the meantime; report it as before.
  return (await findTaken(mainTop, path, request)) ?? ended;
}

async function release(path: string): Promise<GitResult<null>> {
  const gitDir = await gitText(['rev-parse', '--absolute-git-dir'], { cwd: path });
  if (!gitDir.ok) return gitDir;
  await unlockCompletedWorktree(gitDir.value);
  return { ok: true, value: null };
}

/** Removes a worktree that a killed daemon left incomplete. No session has worked there. */
async function removeHalfMade(mainTop: string, branch: string): Promise<GitResult<unknown>> {
  const found = await findWorktree(mainTop, branch);
  if (!found.ok || found.value === null || !found.value.isBeingMade) return found;
  return git([...REMOVE, found.value.path], { cwd: mainTop, timeoutMs: 600_000 });
}

/** Two `--force` also remove locked worktrees. */
const REMOVE = ['worktree', 'remove', '--force', '--force', '--'];

/** Checks out without the repository's configuration, because an agent may have added a filter or a hook. */
async function checkOut(stateDir: string, path: string, head: string, commonDir: string): Promise<GitResult<unknown>> {
  const format = head.length === 64 ? 'sha256' : 'sha1';
  return withCheckout({ stateDir, path, format, objects: [join(commonDir, 'objects')] }, async (place, settings) =>
    git([...settings, 'read-tree', '-u', '--reset', head], { cwd: place, timeoutMs: 600_000 }),
  );
}

/** Git's notation for a branch that must not exist yet, with any hash. */
const NOWHERE = '';

/**
 * Returns a free path. A worktree that was switched to another branch keeps its folder, and the next one gets a number.
 */
async function findFreePath(mainTop: string, path: string): Promise<string> {
  const all = await listWorktrees(mainTop);
  const taken = new Set(all.ok ? all.value.map((worktree) => worktree.path) : []);
  let free = path;
  for (let number = 2; taken.has(free); number++) free = `${path}-${number}`;
  return free;
}

async function findTaken(mainTop: string, path: string, request: WorktreeRequest): Promise<GitFailure | null> {
  const { branch, owner } = request;
  const found = await findWorktree(mainTop, branch);
  if (!found.ok) return found;
  if (found.value !== null && request.beside !== true)
    return checkedOut(branch, found.value, owner ?? (await findOwner(found.value)));
  const exists = (await findSha(mainTop, `refs/heads/${branch}`)) !== null;
  if (exists && request.existingBranch !== 'continue') {
    const hint = nextThing(owner ?? null, `git branch -m ${shellWord(branch)} OTHER-NAME`);
    return gitFailure('git/branch-exists', `branch '${branch}' already exists${ownedBy(owner ?? null)}`, hint);
  }
  if (await pathExists(path)) {
    const message = `'${path}' already exists and is not the worktree of '${branch}'`;
    return gitFailure('git/path-exists', message, 'Move that folder, or remove it if you do not need it.');
  }
  return null;
}

function checkedOut(branch: string, worktree: Worktree, owner: BranchOwner | null): GitFailure {
  if (worktree.isMissing) {
    const message = `the worktree of '${branch}' at '${worktree.path}' is missing, but git still lists it`;
    return gitFailure('git/worktree-missing', message, 'Remove the entry: git worktree prune');
  }
  const message = `branch '${branch}' already exists and is checked out at '${worktree.path}'${ownedBy(owner)}`;
  return gitFailure('git/worktree-exists', message, nextThing(owner, `continue there: cd ${shellWord(worktree.path)}`));
}

/** A worktree's fence names its task, and the task's fence file names the holder. */
async function findOwner(worktree: Worktree): Promise<BranchOwner | null> {
  const repository = await findRepository(worktree.path);
  const fence = repository.ok ? readFence(repository.value.gitDir) : null;
  return fence === null ? null : { taskId: fence.taskId, holder: readLiveClaim(fence.livePath)?.sessionId ?? null };
}

function ownedBy(owner: BranchOwner | null): string {
  if (owner === null) return '';
  return `; it belongs to ${owner.taskId}, ${owner.holder === null ? 'which is not claimed' : `held by ${owner.holder}`}`;
}

/** Failure mode 2 of the handoff document: the second session takes another task. */
function nextThing(owner: BranchOwner | null, byHand: string): string {
  if (owner === null) return `The branch has no known holder. Use another name, or ${byHand}`;
  if (owner.holder === null) return `Claim the task first: baton task claim ${owner.taskId}`;
  return 'Take another task: baton task next';
}

function conflict(branch: string, failure: GitFailure): GitFailure {
  if (!/cannot lock ref|unable to create directory|D\/F/i.test(failure.problem.message)) return failure;
  const message = `branch '${branch}' cannot be made: ${failure.problem.message}`;
  const hint = 'A branch cannot be named as the folder of another: rename one of them.';
  return gitFailure('git/branch-conflict', message, hint);
}

/**
 * Creates a worktree for a new holder. The earlier holder's worktree keeps its files but is detached, because two
 * writers in one folder cannot be told apart.
 */
export async function createTakeoverWorktree(
  folder: string,
  { stateDir, branch, epoch }: { readonly stateDir: string; readonly branch: string; readonly epoch: number },
): Promise<GitResult<NewWorktree>> {
  const earlier = await findWorktree(folder, branch);
  if (!earlier.ok) return earlier;
  if (earlier.value !== null && !earlier.value.isMissing && earlier.value.head !== null) {
    const detached = await detachWorktree(earlier.value.path, { head: earlier.value.head, epoch });
    if (!detached.ok) return detached;
  }
  const beside = earlier.value === null ? {} : { folder: `${worktreeFolder(branch)}-e${epoch}`, beside: true };
  return createWorktree(folder, { stateDir, branch, base: branch, existingBranch: 'continue', hold: true, ...beside });
}

/** `git checkout --detach` would need the index, which a frozen process may have locked. */
export async function detachWorktree(
  path: string,
  { head, epoch }: { readonly head: string; readonly epoch: number },
): Promise<GitResult<unknown>> {
  const detach = ['update-ref', '--no-deref', '-m', `baton: epoch ${epoch} goes on elsewhere`, 'HEAD'];
  return git([...detach, head], { cwd: path });
}

/** Names a task's branch, once. Later the recorded name applies, even if the template changes. */
export function branchName(task: BranchTask, template = DEFAULT_BRANCH): GitResult<string> {
  const named = renderBranch(template, task);
  return named.ok ? named : gitFailure('git/bad-name', named.problems[0].message, named.problems[0].hint);
}

/** The folder of a branch's worktree below `.worktrees`: the branch name without its first part. */
export function worktreeFolder(branch: string): string {
  const rest = branch.includes('/') ? branch.slice(branch.indexOf('/') + 1) : branch;
  return rest.replaceAll('/', '-');
}
