import type { State } from '../../../state/state.ts';
import { isClaimableUnder } from '../../../state/tasks/claim-task.ts';
import { type Status, type Task, taskStatus } from '../../../state/tasks/task.ts';
import { chainsOf, criticalTasks } from './critical-path.ts';
import { rememberForState } from '../remember.ts';
import type { TaskOrder } from './task-orders.ts';
import { matchesTask, parseTaskFilter, type TaskFacts, withoutKey } from './task-filter.ts';

/** One row of the list of tasks. */
export interface TaskRow {
  readonly id: string;
  /** The title, cut to one line. */
  readonly title: string;
  readonly status: Status;
  readonly activity: string;
  readonly phase: string;
  readonly role: string | null;
  readonly isClaimable: boolean;
  readonly holder: string | null;
  /** The number of unfinished tasks that it waits for. */
  readonly waits: number;
  /** Why it is blocked; null if it is not blocked. */
  readonly because: string | null;
  readonly priority: number;
  /** Since when it has its current activity; null if that is not recorded. */
  readonly since: string | null;
  readonly isCritical: boolean;
}

export interface TasksParams {
  readonly q: string;
  readonly order: TaskOrder;
  /** The window of rows: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** The task whose detail is open. */
  readonly chosen?: string;
}

export interface TasksResult {
  readonly total: number;
  readonly from: number;
  readonly rows: readonly TaskRow[];
  /** The number of matching tasks by status, ignoring the filter's status. */
  readonly counts: Readonly<Record<Status, number>>;
  readonly problems: readonly string[];
  /** The index of the chosen task in the list; -1 if it is not in it. */
  readonly chosenAt: number;
  /** The length of the longest chain of unfinished tasks. */
  readonly criticalLength: number;
  readonly roles: readonly string[];
  readonly holders: readonly string[];
}

/** Lists the tasks that match a filter: the window of rows on the screen, and the counts. */
export function listTasks(state: State, { q, order, from, to, chosen }: TasksParams): TasksResult {
  const { tasks, counts, problems } = filtered(state, JSON.stringify([order, q]));
  const { roles, holders } = knownNames(state);
  const critical = criticalTasks(state);
  return {
    total: tasks.length,
    from,
    rows: tasks.slice(from, to).map((task) => toRow(state, task, critical)),
    counts,
    problems,
    chosenAt: chosen === undefined ? -1 : tasks.findIndex(({ id }) => id === chosen),
    criticalLength: critical.size,
    roles,
    holders,
  };
}

interface Filtered extends Pick<TasksResult, 'counts' | 'problems'> {
  readonly tasks: readonly Task[];
}

const filtered = rememberForState((state, name): Filtered => {
  const [order, q]: [TaskOrder, string] = JSON.parse(name);
  const filter = parseTaskFilter(q);
  const apart = withoutKey(filter, 'status');
  const ofStatus = { ...filter, conditions: filter.conditions.filter(({ key }) => key === 'status'), words: [] };
  const counts = { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 };
  const found: Task[] = [];
  for (const task of state.tasks.values()) {
    const facts = factsOf(state, task);
    if (!matchesTask(apart, facts)) continue;
    counts[taskStatus(task)] += 1;
    if (matchesTask(ofStatus, facts)) found.push(task);
  }
  return { tasks: found.sort(compare(state, order)), counts, problems: filter.problems };
});

/** Only the start of a title is searched, because a title may have a megabyte. */
const SEARCHED = 2000;

function factsOf(state: State, task: Task): TaskFacts {
  const { id, title, phase, after } = task;
  return {
    id,
    title: title.slice(0, SEARCHED),
    status: taskStatus(task),
    phase,
    role: roleOf(task),
    holder: task.claim?.holder ?? null,
    after,
    isClaimable: () => isClaimable(state, task),
    activity: () => activityOf(state, task),
    isCritical: () => criticalTasks(state).has(id),
    isBefore: (other) => byLowerCase(state).get(other)?.after.includes(id) ?? false,
  };
}

const byLowerCase = rememberForState(
  ({ tasks }) => new Map([...tasks.values()].map((task) => [task.id.toLowerCase(), task])),
);

/**
 * Reports whether a task can be claimed. The state does not contain the runbook: a task in CI_PENDING with recorded
 * checks has the gate, which runs them; without, a session does. The task's detail shows the daemon's answer.
 */
function isClaimable(state: State, task: Task): boolean {
  return isClaimableUnder(state, task, { ciGate: task.flow.checks !== null || task.flow.pull?.isWanted === true });
}

function roleOf({ claim, nextRole }: Task): string | null {
  return claim?.role ?? nextRole;
}

function activityOf({ timelines }: State, { id }: Task): string {
  return timelines.get(id)?.spans.at(-1)?.activity ?? 'pending';
}

const SHOWN_TITLE = 300;

function toRow(state: State, task: Task, critical: ReadonlySet<string>): TaskRow {
  const { id, title, phase, claim, priority, after } = task;
  return {
    id,
    title: title.slice(0, SHOWN_TITLE),
    status: taskStatus(task),
    activity: activityOf(state, task),
    phase,
    role: roleOf(task),
    isClaimable: isClaimable(state, task),
    holder: claim?.holder ?? null,
    waits: after.filter((before) => state.tasks.get(before)?.phase !== 'COMPLETED').length,
    because: task.blocked?.reason.slice(0, SHOWN_TITLE) ?? null,
    priority,
    since: sinceOf(state, task),
    isCritical: critical.has(id),
  };
}

function sinceOf({ timelines }: State, { id }: Task): string | null {
  return timelines.get(id)?.spans.at(-1)?.from ?? null;
}

/** The order of statuses: tasks in progress first; ended ones by their end, newest first. */
const PLACES: Readonly<Record<Status, number>> = { in_progress: 0, blocked: 1, todo: 2, done: 3, cancelled: 4 };

function compare(state: State, order: TaskOrder): (a: Task, b: Task) => number {
  if (order === 'oldest') return (a, b) => a.n - b.n;
  if (order === 'newest') return (a, b) => b.n - a.n;
  if (order === 'urgent') {
    const { after } = chainsOf(state);
    const chain = ({ id }: Task): number => after.get(id) ?? 0;
    return (a, b) => chain(b) - chain(a) || b.priority - a.priority || a.n - b.n;
  }
  const place = new Map([...state.tasks.values()].map((task) => [task.id, PLACES[taskStatus(task)]]));
  return (a, b) => {
    const [own = 0, other = 0] = [place.get(a.id), place.get(b.id)];
    if (own !== other) return own - other;
    if (own < PLACES.done) return b.priority - a.priority || a.n - b.n;
    const [ended, otherEnded] = [sinceOf(state, a) ?? '', sinceOf(state, b) ?? ''];
    return ended === otherEnded ? b.n - a.n : ended < otherEnded ? 1 : -1;
  };
}

const MOST_NAMES = 50;

const knownNames = rememberForState(({ tasks }) => {
  const roles = new Set<string>();
  const holders = new Set<string>();
  for (const { claim, nextRole } of tasks.values()) {
    for (const role of [claim?.role, nextRole]) if (typeof role === 'string') roles.add(role);
    if (claim !== null) holders.add(claim.holder);
  }
  return { roles: [...roles].sort().slice(0, MOST_NAMES), holders: [...holders].sort().slice(0, MOST_NAMES) };
});
