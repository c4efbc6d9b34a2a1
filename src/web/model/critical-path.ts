import { dependantsOf, type State } from '../../state/state.ts';
import { isCancelled, type Task } from '../../state/tasks/task.ts';
import { rememberForState } from './remember.ts';

export type TaskGraphState = Pick<State, 'tasks' | 'dependants'>;

/** How many unfinished tasks the longest chain has that ends here, or begins here; the task itself counts. */
export interface Chains {
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
}

/** A cancelled task is never done: it is no work that remains. */
export function isUnfinished(task: Task | undefined): task is Task {
  return task !== undefined && task.phase !== 'COMPLETED' && !isCancelled(task);
}

export function longestChains(state: TaskGraphState): Chains {
  const order = inOrder(state);
  const before = new Map<string, number>();
  const after = new Map<string, number>();
  for (const task of order) before.set(task.id, 1 + longest(openBefore(state, task), before));
  for (const task of order.toReversed()) after.set(task.id, 1 + longest(openAfter(state, task), after));
  return { before, after };
}

function longest(tasks: readonly Task[], chains: ReadonlyMap<string, number>): number {
  return tasks.reduce((most, { id }) => Math.max(most, chains.get(id) ?? 0), 0);
}

/** The unfinished tasks, each after those that it waits for; without recursion, because a chain may have thousands. */
function inOrder(state: TaskGraphState): readonly Task[] {
  const open = [...state.tasks.values()].filter(isUnfinished);
  const missing = new Map(open.map((task) => [task.id, openBefore(state, task).length]));
  const order = open.filter(({ id }) => missing.get(id) === 0);
  for (let i = 0; i < order.length; i += 1) {
    const task = order[i];
    if (task === undefined) break;
    for (const next of openAfter(state, task)) {
      const left = (missing.get(next.id) ?? 0) - 1;
      missing.set(next.id, left);
      if (left === 0) order.push(next);
    }
  }
  return order;
}

function openBefore({ tasks }: TaskGraphState, { after }: Task): readonly Task[] {
  return [...new Set(after)].map((id) => tasks.get(id)).filter(isUnfinished);
}

function openAfter(state: TaskGraphState, { id }: Task): readonly Task[] {
  return [...new Set(dependantsOf(state, id))].map((next) => state.tasks.get(next)).filter(isUnfinished);
}

/** The longest chain of unfinished tasks in the project, first task first; of equally long ones, that of the oldest tasks. */
export function criticalPath(state: TaskGraphState, chains: Chains): readonly string[] {
  const open = [...chains.before.keys()].flatMap((id) => state.tasks.get(id) ?? []);
  const [first] = best(
    open.filter(({ id }) => chains.before.get(id) === 1),
    chains.after,
  );
  return first === undefined ? [] : chainThrough(state, chains, first.id);
}

/** The longest chain of unfinished tasks through one; empty if it is finished itself. */
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
export const criticalTasks = rememberForState((state) => new Set(criticalPath(state, chainsOf(state))));
