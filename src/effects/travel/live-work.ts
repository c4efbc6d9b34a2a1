import { isHere } from '../../state/fleet/owner.ts';
import type { TaskWork } from '../../state/fleet/work-place.ts';
import type { State } from '../../state/state.ts';
import { isCancelled, type Task } from '../../state/tasks/task.ts';

/** The work of one of this host's claims. */
export interface LiveWork {
  readonly taskId: string;
  readonly epoch: number;
  readonly branch: string;
  /** Null for a manual claim. */
  readonly worktree: string | null;
  /** The commit at which the session began. */
  readonly base: string | null;
  readonly work: TaskWork | null;
  /** Whether the claim has ended and other hosts wait for its work. */
  readonly isOwed: boolean;
}

/** What this host pushes: the work of its live claims, and of ended claims whose last push failed or never happened. */
export function listWork(
  tasks: Iterable<Task>,
  state: State,
  { host, path }: { readonly host: string; readonly path: string },
): readonly LiveWork[] {
  return [...tasks].flatMap((task) => findLiveWork(state, task, host, path) ?? findOwedWork(state, task, host) ?? []);
}

/** Whether some host may have work of this task to push: a live claim, or work that is not at the remote. */
export function mayHaveWork(task: Task): boolean {
  return task.claim !== null || owesWork(task);
}

/** Undefined for a session in the repository itself, which changes nothing. */
export function findLiveWork(state: State, task: Task, host: string, path: string): LiveWork | undefined {
  const { claim, work } = task;
  if (claim === null || !isHere(claim, state, { host })) return undefined;
  const prepared = state.sessions.get(claim.sessionId)?.prepared;
  const branch = prepared?.branch ?? task.flow.branch;
  if (branch === null || prepared?.workspace === path) return undefined;
  const { workspace = null, base = null } = prepared ?? {};
  return { taskId: task.id, epoch: claim.epoch, branch, worktree: workspace, base, work, isOwed: false };
}

/** Includes sessions from before the project had a second host. */
function findOwedWork(state: State, task: Task, host: string): LiveWork | undefined {
  const { work, flow, epoch } = task;
  if (!owesWork(task) || flow.branch === null || !isHere(work ?? { host: null }, state, { host })) return undefined;
  return { taskId: task.id, epoch, branch: flow.branch, worktree: null, base: null, work, isOwed: true };
}

function owesWork(task: Task): boolean {
  const { claim, work, flow, epoch, phase } = task;
  if (claim !== null || flow.branch === null || epoch === 0 || phase === 'COMPLETED' || isCancelled(task)) return false;
  const isPushed = work !== null && work.failed === null && work.pushed?.epoch === work.epoch;
  // A later claim without a worktree has nothing to push.
  return !isPushed && (work === null || work.epoch === epoch);
}

/** What the remote should have of a claim. */
export interface WorkPosition {
  readonly sha: string;
  readonly wip: string | null;
}

/**
 * Whether a position must be pushed and recorded. During a session, only if it changed; at the end always, because
 * other hosts wait for the last push of each claim.
 */
export function isNewPosition(
  { epoch, base, work }: Pick<LiveWork, 'epoch' | 'base' | 'work'>,
  { sha, wip }: WorkPosition,
  isEnd: boolean,
): boolean {
  const pushed = work?.pushed ?? null;
  const isOwn = work?.epoch === epoch && pushed?.epoch === epoch;
  if (isOwn) return work.failed !== null || pushed.sha !== sha || pushed.wip !== wip;
  return isEnd || sha !== (pushed?.sha ?? base) || wip !== (pushed?.wip ?? null);
}

/** Monotonic times at which the work of a claim was last checked and pushed. */
export interface PushTimes {
  /** The last check that included the files, or the last push. */
  readonly lookedMs: number;
  /** The last attempted push. */
  readonly pushedMs: number;
}

/** Every five minutes in any case, and for a new commit at most every 30 s. After a failure again after 30 s. */
export function isPushDue({ lookedMs, pushedMs }: PushTimes, isMoved: boolean, nowMs: number): boolean {
  if (nowMs - lookedMs >= LOOK_MS) return true;
  return isMoved && nowMs - pushedMs >= LEAST_MS;
}

export const LEAST_MS = 30_000;
const LOOK_MS = 300_000;
