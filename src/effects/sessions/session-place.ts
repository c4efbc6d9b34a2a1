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
import { type Here, isHere } from '../../state/fleet/owner.ts';
import type { State } from '../../state/state.ts';
import { isCancelled, type Task } from '../../state/tasks/task.ts';
import { landedHead } from '../../state/workflow/flow.ts';
import type { ClearPlace } from '../../state/workflow/session-place.ts';
import type { EffectContext } from '../context.ts';
import { renderGithubProblem } from '../merges/github.ts';
import { bringCommit, bringWork } from '../travel/bring-work.ts';
import { requireRemote } from '../travel/remote-away.ts';
import { restoreFiles } from '../travel/restore-files.ts';
import { findMainOf } from './workplace.ts';

export interface PlaceHolder {
  readonly task: Task;
  readonly epoch: number;
  readonly holder: string;
  /** The epochs of earlier sessions that Baton itself started. */
  readonly supervised: ReadonlySet<number>;
}

type PlaceRefusal = Extract<SessionPlacement, { ok: false }>;

export type SessionPlacement =
  | { readonly ok: true; readonly path: string; readonly branch: string; readonly isFenced: boolean }
  | { readonly ok: false; readonly reason: string };

/**
 * Places a session in the worktree of its task. Sessions of one task share the worktree if no earlier session can still
 * write to it. If one can, the branch continues in a new worktree, and uncommitted files stay in the old one. Undefined
 * if the start was cancelled.
 */
export async function placeSession(
  holder: PlaceHolder,
  context: EffectContext,
  signal: AbortSignal,
): Promise<SessionPlacement | undefined> {
  const { task, epoch } = holder;
  if (!(await waitForOtherSessions(task.id, epoch, context, signal))) return undefined;
  const branch = await nameBranch(task, epoch, context);
  if (branch === undefined || typeof branch === 'object') return branch;
  return context.placeMutex.run(branch, async () => claimPlace(branch, holder, context));
}

/** Recorded before git creates the branch. The first recorded name stays. */
async function nameBranch(
  task: Task,
  epoch: number,
  context: EffectContext,
): Promise<string | PlaceRefusal | undefined> {
  const named = branchName(task, context.sessions.workspace.branch);
  if (!named.ok) return failure(named);
  const submitted = await context.submit({ kind: 'name-branch', command: { id: task.id, epoch, branch: named.value } });
  if (submitted?.refused !== undefined) return { ok: false, reason: submitted.refused };
  const name = submitted && (await context.readState(({ tasks }) => tasks.get(task.id)?.flow.branch));
  return name ?? undefined;
}

async function claimPlace(branch: string, holder: PlaceHolder, context: EffectContext): Promise<SessionPlacement> {
  const { task, epoch } = holder;
  const brought =
    task.phase === 'COMPLETED' ? NOTHING : requireRemote(await bringWork(task, { branch, epoch }, context));
  if (!brought.ok) return failure(brought);
  const existing = await findWorktree(context.path, branch);
  if (!existing.ok) return failure(existing);
  // A closer changes nothing, so it needs no worktree after the merge has removed it.
  if (existing.value === null && task.phase === 'COMPLETED')
    return { ok: true, path: context.path, branch, isFenced: false };
  const main = await findMainOf(task, context);
  const based =
    main.ok && context.here() !== undefined ? requireRemote(await bringCommit(main.value.sha, context)) : NOTHING;
  if (!based.ok) return failure(based);
  const found = await findPlace(branch, existing.value?.path ?? null, holder, {
    path: context.path,
    stateDir: context.stateDir,
    base: main.ok ? main.value.sha : 'HEAD',
  });
  if (!found.ok) return failure(found);
  const restored = brought.value === null ? NOTHING : await restoreFiles(found.value, brought.value);
  if (!restored.ok) return failure(restored);
  const into = main.ok ? main.value.name : context.settingsFor(task).into;
  const fence = { stateDir: context.stateDir, project: context.projectId, taskId: task.id, epoch, branch, into };
  const installed = await installFence(found.value, fence);
  if (!installed.ok) return failure(installed);
  // The claim may have changed while git ran.
  await context.fence(task.id);
  return { ok: true, path: found.value, branch, isFenced: true };
}

const NOTHING = { ok: true, value: null } as const;

async function findPlace(
  branch: string,
  earlier: string | null,
  { task, epoch, holder, supervised }: PlaceHolder,
  { path: repository, stateDir, base }: Pick<EffectContext, 'path' | 'stateDir'> & { readonly base: string },
): Promise<GitResult<string>> {
  const fence = earlier === null ? null : await findFence(earlier);
  if (fence?.ok === false) return fence;
  // A worktree without Baton's fence, or with another task's fence, has another owner, whom the error names.
  const isOurs = fence?.value?.taskId === task.id;
  if (earlier === null || !isOurs) {
    const owner = fence?.value ? null : { taskId: task.id, holder };
    const how = { existingBranch: 'continue', hold: true } as const;
    const made = await createWorktree(repository, { stateDir, branch, base, owner, ...how });
    return made.ok ? { ok: true, value: made.value.path } : made;
  }
  if (fence.value.epoch === epoch || hasLeft(task, fence.value.epoch, supervised)) return { ok: true, value: earlier };
  const taken = await createTakeoverWorktree(repository, { stateDir, branch, epoch });
  return taken.ok ? { ok: true, value: taken.value.path } : taken;
}

/** The exits of supervised agents are known. Other sessions count as ended only if they reported it. */
function hasLeft({ endings }: Task, before: number, supervised: ReadonlySet<number>): boolean {
  const ending = endings.find(({ epoch }) => epoch === before);
  return ending !== undefined && (supervised.has(before) || IN_ORDER.has(ending.how));
}

const IN_ORDER: ReadonlySet<string> = new Set(['completed', 'blocked', 'failed', 'released']);

/**
 * Waits until the agents of ended sessions have exited, because they may still write. Returns false if the start was
 * cancelled.
 */
async function waitForOtherSessions(
  taskId: string,
  epoch: number,
  context: EffectContext,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    const busy = await context.readState((state) => isBusy(state, { taskId, epoch }, context.here()));
    if (busy === false) return true;
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return false;
}

/** Ignores agents of other hosts, which write to their own worktrees. */
function isBusy(
  state: State,
  { taskId, epoch }: { readonly taskId: string; readonly epoch: number },
  here: Here | undefined,
): boolean {
  return [...state.agents.values()].some((agent) => {
    const { task, process } = agent;
    return task?.task_id === taskId && task.epoch < epoch && process !== 'gone' && isHere(agent, state, here);
  });
}

function failure({ problem: { message, hint } }: GitFailure): PlaceRefusal {
  return { ok: false, reason: `${message}. ${hint}` };
}

type Cleared = Omit<ClearPlace, 'task_id'>;

/**
 * Removes the worktree and the branch of a cancelled or completed task, unless they hold uncommitted, unpushed or
 * unmerged work. Holds the place, so that sessions wait. A reinstated task keeps both.
 */
export async function clearPlace(
  { task_id, branch }: Events['PlaceClearRequested'],
  context: EffectContext,
): Promise<readonly Command[]> {
  return context.placeMutex.run(branch, async () => {
    const task = await context.readState(({ tasks }) => tasks.get(task_id));
    if (task === undefined || !(isCancelled(task) || task.phase === 'COMPLETED')) return [];
    // After a squash no ref names the branch's own commits, but the records still do.
    if (task.flow.mergeSha !== null && task.flow.head !== null) await context.ownRepository.with(task.flow.head);
    const { workspace, into: mainBranch } = context.settingsFor(task);
    const configured = [...workspace.copy, ...workspace.link];
    const { stateDir, path } = context;
    const cleared = await clearWorktree(branch, path, { stateDir, mainBranch, configured, landed: landedHead(task) });
    return [{ kind: 'clear-place', command: { task_id, ...cleared } }];
  });
}

async function clearWorktree(
  branch: string,
  path: string,
  guard: Parameters<typeof removeWorktree>[2],
): Promise<Cleared> {
  const all = await listWorktrees(path);
  if (!all.ok) return kept(all);
  const worktree = all.value.find((each) => each.branch === branch);
  if (worktree === undefined) {
    const gone = await removeMergedBranch(path, branch, guard.mainBranch);
    return gone.ok ? { outcome: gone.value, reason: null } : kept(gone);
  }
  // A worktree outside of Baton's folder belongs to the user.
  const below = join(all.value[0]?.path ?? path, WORKTREES_FOLDER) + sep;
  if (!worktree.path.startsWith(below)) return { outcome: 'kept', reason: `it is checked out at ${worktree.path}` };
  const removed = await removeWorktree(path, worktree.path, guard);
  return removed.ok ? { outcome: 'removed', reason: null } : kept(removed);
}

function kept({ problem }: GitFailure): Cleared {
  return { outcome: 'kept', reason: renderGithubProblem(problem) };
}

const LOOK_MS = 50;
