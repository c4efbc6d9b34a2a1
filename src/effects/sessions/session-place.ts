import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFence, installFence } from '../../git/fence/install.ts';
import type { GitFailure, GitResult } from '../../git/run-git.ts';
import { branchName, createTakeoverWorktree, createWorktree } from '../../git/worktree/create.ts';
import { WORKTREES_FOLDER } from '../../git/worktree/ignore-rules.ts';
import { removeMergedBranch, removeWorktree } from '../../git/worktree/remove.ts';
import { findWorktree, listWorktrees } from '../../git/worktree/worktree.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import { isCancelled, type Task } from '../../state/tasks/task.ts';
import type { ClearPlace } from '../../state/workflow/session-place.ts';
import type { EffectContext } from '../context.ts';
import { renderGithubProblem } from '../merges/github.ts';
import { findMainOf } from './workplace.ts';

/** The claim that a place is for. */
export interface PlaceHolder {
  readonly task: Task;
  readonly epoch: number;
  readonly holder: string;
  /** The epochs of earlier sessions that Baton itself had started. */
  readonly supervised: ReadonlySet<number>;
}

interface PlaceRefusal {
  readonly ok: false;
  readonly reason: string;
}

export type SessionPlacement =
  | { readonly ok: true; readonly path: string; readonly branch: string; readonly isFenced: boolean }
  | PlaceRefusal;

/**
 * The worktree of a task. Sessions of one task follow each other in the same one, as long as it is known that nobody of the earlier
 * ones can still write there; else the branch is gone on with in another beside it, and what was not committed stays where it is.
 * Undefined where the start was called off meanwhile.
 */
export async function placeSession(
  holder: PlaceHolder,
  world: EffectContext,
  signal: AbortSignal,
): Promise<SessionPlacement | undefined> {
  const { task, epoch } = holder;
  if (!(await waitForOtherSessions(task.id, epoch, world, signal))) return undefined;
  const branch = await nameBranch(task, epoch, world);
  if (branch === undefined || typeof branch === 'object') return branch;
  return world.placeMutex.run(branch, async () => claimPlace(branch, holder, world));
}

/** On record before git is asked for it; what was recorded first stays. */
async function nameBranch(task: Task, epoch: number, world: EffectContext): Promise<string | PlaceRefusal | undefined> {
  const named = branchName(task, world.sessions.workspace.branch);
  if (!named.ok) return failure(named);
  const told = await world.submit({ kind: 'name-branch', command: { id: task.id, epoch, branch: named.value } });
  if (told?.refused !== undefined) return { ok: false, reason: told.refused };
  const recorded = told && (await world.readState(({ tasks }) => tasks.get(task.id)?.flow.branch));
  return recorded ?? undefined;
}

async function claimPlace(branch: string, holder: PlaceHolder, world: EffectContext): Promise<SessionPlacement> {
  const { task, epoch } = holder;
  const existing = await findWorktree(world.path, branch);
  if (!existing.ok) return failure(existing);
  // Whoever closes a task that is merged, and whose worktree has been tidied away, changes nothing.
  if (existing.value === null && task.phase === 'COMPLETED')
    return { ok: true, path: world.path, branch, isFenced: false };
  const main = await findMainOf(task, world);
  const found = await findPlace(branch, existing.value?.path ?? null, holder, {
    path: world.path,
    stateDir: world.stateDir,
    base: main.ok ? main.value.sha : 'HEAD',
  });
  if (!found.ok) return failure(found);
  const into = main.ok ? main.value.name : world.settingsFor(task).into;
  const fence = { stateDir: world.stateDir, project: world.projectId, taskId: task.id, epoch, branch, into };
  const installed = await installFence(found.value, fence);
  if (!installed.ok) return failure(installed);
  // Git took its time. What the fence says is what holds now, not what held when we were asked.
  await world.fence(task.id);
  return { ok: true, path: found.value, branch, isFenced: true };
}

async function findPlace(
  branch: string,
  earlier: string | null,
  { task, epoch, holder, supervised }: PlaceHolder,
  { path: repository, stateDir, base }: Pick<EffectContext, 'path' | 'stateDir'> & { readonly base: string },
): Promise<GitResult<string>> {
  const fence = earlier === null ? null : await findFence(earlier);
  if (fence?.ok === false) return fence;
  // A worktree without our fence, or with that of another task, is somebody's own: it is not taken from them, and the error says whose it is.
  const isOurs = fence?.value?.taskId === task.id;
  if (earlier === null || !isOurs) {
    const owner = fence?.value ? null : { taskId: task.id, holder };
    const made = await createWorktree(repository, {
      stateDir,
      branch,
      base,
      owner,
      existingBranch: 'continue',
      hold: true,
    });
    return made.ok ? { ok: true, value: made.value.path } : made;
  }
  if (fence.value.epoch === epoch || hasLeft(task, fence.value.epoch, supervised)) return { ok: true, value: earlier };
  const taken = await createTakeoverWorktree(repository, { stateDir, branch, epoch });
  return taken.ok ? { ok: true, value: taken.value.path } : taken;
}

/** Supervised agents are known to be gone by now. Of others only those who said so themselves have left. */
function hasLeft({ endings }: Task, before: number, supervised: ReadonlySet<number>): boolean {
  const ending = endings.find(({ epoch }) => epoch === before);
  return ending !== undefined && (supervised.has(before) || IN_ORDER.has(ending.how));
}

const IN_ORDER: ReadonlySet<string> = new Set(['completed', 'blocked', 'failed', 'released']);

/** An agent whose session is over takes a moment to leave, and may still write meanwhile. False where the start was called off. */
async function waitForOtherSessions(
  taskId: string,
  epoch: number,
  world: EffectContext,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    const busy = await world.readState((state) => isBusy(state, taskId, epoch));
    if (busy === false) return true;
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return false;
}

const LOOK_MS = 50;

function isBusy({ agents }: State, taskId: string, epoch: number): boolean {
  return [...agents.values()].some(
    ({ task, process }) => task?.task_id === taskId && task.epoch < epoch && process !== 'gone',
  );
}

function failure({ problem: { message, hint } }: GitFailure): PlaceRefusal {
  return { ok: false, reason: `${message}. ${hint}` };
}

type Cleared = Omit<ClearPlace, 'task_id'>;

/**
 * Removes the worktree and the branch of a cancelled task, if nothing uncommitted, unpushed or unmerged is in them. Sessions that prepare
 * their place wait for it, and a task that was reinstated first keeps what it has.
 */
export async function clearPlace(
  { task_id, branch }: Events['PlaceClearRequested'],
  world: EffectContext,
): Promise<readonly Command[]> {
  return world.placeMutex.run(branch, async () => {
    const task = await world.readState(({ tasks }) => tasks.get(task_id));
    if (task === undefined || !isCancelled(task)) return [];
    const { workspace, into } = world.settingsFor(task);
    const configured = [...workspace.copy, ...workspace.link];
    const cleared = await clearWorktree(branch, world.path, { stateDir: world.stateDir, mainBranch: into, configured });
    return [{ kind: 'clear-place', command: { task_id, ...cleared } }];
  });
}

async function clearWorktree(
  branch: string,
  path: string,
  guard: Parameters<typeof removeWorktree>[2],
): Promise<Cleared> {
  const all = await listWorktrees(path);
  if (!all.ok) return { outcome: 'kept', reason: renderGithubProblem(all.problem) };
  const worktree = all.value.find((each) => each.branch === branch);
  if (worktree === undefined) {
    const gone = await removeMergedBranch(path, branch, guard.mainBranch);
    return gone.ok
      ? { outcome: gone.value, reason: null }
      : { outcome: 'kept', reason: renderGithubProblem(gone.problem) };
  }
  // A worktree outside of Baton's folder belongs to the user.
  const below = join(all.value[0]?.path ?? path, WORKTREES_FOLDER) + sep;
  if (!worktree.path.startsWith(below)) return { outcome: 'kept', reason: `it is checked out at ${worktree.path}` };
  const removed = await removeWorktree(path, worktree.path, guard);
  return removed.ok
    ? { outcome: 'removed', reason: null }
    : { outcome: 'kept', reason: renderGithubProblem(removed.problem) };
}
