import { dependantsOf } from '../../../state/dependants.ts';
import type { State } from '../../../state/state.ts';
import { isCancelled, type Task } from '../../../state/tasks/task.ts';
import { rememberForState } from '../remember.ts';

export type TaskGraphState = Pick<State, 'tasks' | 'dependants'>;

/**
 * The number of unfinished tasks in the longest chain that ends, and that begins, at a task; the task itself counts.
 */
export interface Chains {
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
}

/** Reports whether a task remains to be done. A cancelled task is never done, so it does not. */
export function isUnfinished(task: Task | undefined): task is Task {
  return task !== undefined && task.phase !== 'COMPLETED' && !isCancelled(task);
}

/** Computes each task after its dependencies; without recursion, because a chain may have thousands of tasks. */
export function longestChains({ tasks }: Pick<TaskGraphState, 'tasks'>): Chains {
  const open = [...tasks.values()].filter(isUnfinished);
  const places = new Map(open.map(({ id }, i) => [id, i]));
  const waits = open.map(({ after }) => after.map((id) => places.get(id)).filter((place) => place !== undefined));
  const followers: number[][] = open.map(() => []);
  for (const [i, places] of waits.entries()) for (const place of places) followers[place]?.push(i);
  const order = inOrder(waits, followers);
  const before = lengths(order, waits);
  const after = lengths(order.toReversed(), followers);
  const named = (chains: readonly number[]): ReadonlyMap<string, number> =>
    new Map(order.map((i) => [open[i]?.id ?? '', chains[i] ?? 0]));
  return { before: named(before), after: named(after) };
}

type Edges = readonly (readonly number[])[];

/** Orders tasks by dependency. Tasks in a cycle are omitted. */
function inOrder(waits: Edges, followers: Edges): readonly number[] {
  const missing = waits.map(({ length }) => length);
  const order = [...missing.keys()].filter((i) => missing[i] === 0);
  // The loop also visits items that it appends.
  for (const i of order) {
    for (const next of followers[i] ?? []) {
      missing[next] = (missing[next] ?? 0) - 1;
      if (missing[next] === 0) order.push(next);
    }
  }
  return order;
}

function lengths(order: readonly number[], edges: Edges): readonly number[] {
  const found: number[] = edges.map(() => 0);
  for (const i of order) {
    let longest = 0;
    for (const other of edges[i] ?? []) longest = Math.max(longest, found[other] ?? 0);
    found[i] = longest + 1;
  }
  return found;
}

function openBefore({ tasks }: TaskGraphState, { after }: Task): readonly Task[] {
  return [...new Set(after)].map((id) => tasks.get(id)).filter(isUnfinished);
}

function openAfter(state: TaskGraphState, { id }: Task): readonly Task[] {
  return [...new Set(dependantsOf(state, id))].map((next) => state.tasks.get(next)).filter(isUnfinished);
}

/**
 * The longest chain of unfinished tasks in the project, first task first; among equally long ones, that of the oldest
 * tasks.
 */
export function criticalPath(state: TaskGraphState, chains: Chains): readonly string[] {
  const open = [...chains.before.keys()].flatMap((id) => state.tasks.get(id) ?? []);
  const [first] = best(
    open.filter(({ id }) => chains.before.get(id) === 1),
    chains.after,
  );
  return first === undefined ? [] : chainThrough(state, chains, first.id);
}

/** The longest chain of unfinished tasks through a task; empty if the task is finished. */
export function chainThrough(state: TaskGraphState, chains: Chains, id: string): readonly string[] {
  const task = state.tasks.get(id);
  if (task === undefined || !chains.before.has(id)) return [];
  const back = follow(task, (from) => best(openBefore(state, from), chains.before)[0]);
  const on = follow(task, (from) => best(openAfter(state, from), chains.after)[0]);
  return [...back.toReversed(), id, ...on];
}

function follow(from: Task, step: (task: Task) => Task | undefined): readonly string[] {
  const path: string[] = [];
  for (let next = step(from); next !== undefined; next = step(next)) path.push(next.id);
  return path;
}

function best(tasks: readonly Task[], chains: ReadonlyMap<string, number>): readonly Task[] {
  const length = ({ id }: Task): number => chains.get(id) ?? 0;
  return tasks.filter((task) => length(task) > 0).toSorted((a, b) => length(b) - length(a) || a.n - b.n);
}

export const chainsOf = rememberForState((state) => longestChains(state));
/**
 * The tasks of the longest chain. Empty if no unfinished task depends on another, because every task would be equally
 * critical.
 */
export const criticalTasks = rememberForState((state): ReadonlySet<string> => {
  const path = criticalPath(state, chainsOf(state));
  return new Set(path.length > 1 ? path : []);
});
