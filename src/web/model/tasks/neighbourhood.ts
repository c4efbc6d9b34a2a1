import { dependantsOf } from '../../../state/dependants.ts';
import { type Status, type Task, taskStatus } from '../../../state/tasks/task.ts';
import { isUnfinished, type TaskGraphState } from './critical-path.ts';

export interface GraphNode {
  readonly id: string;
  readonly title: string;
  readonly status: Status;
}

/** The tasks up to two dependencies away, in both directions. */
export interface Neighbourhood {
  readonly nodes: readonly GraphNode[];
  /** Edges from a task to one that waits for it. */
  readonly edges: readonly (readonly [from: string, to: string])[];
  /** The number of omitted tasks, by side and distance: `-2` for indirect dependencies, `1` for direct dependants. */
  readonly more: readonly { readonly hop: number; readonly count: number }[];
}

/** For two distances on each side, plus the task itself: no more than 60 nodes fit. */
const MOST_PER_HOP = 14;
const HOPS = 2;

export function neighbourhoodOf(state: TaskGraphState, id: string): Neighbourhood {
  const task = state.tasks.get(id);
  if (task === undefined) return { nodes: [], edges: [], more: [] };
  const before = walk(state, task, ({ after }) => after);
  const after = walk(state, task, (from) => dependantsOf(state, from.id));
  const nodes = [...before.tasks.toReversed(), task, ...after.tasks];
  const ids = new Set(nodes.map((node) => node.id));
  return {
    nodes: nodes.map(toNode),
    edges: nodes.flatMap((to) =>
      [...new Set(to.after)].filter((from) => ids.has(from)).map((from) => [from, to.id] as const),
    ),
    more: [...before.more.map(({ hop, count }) => ({ hop: -hop, count })), ...after.more],
  };
}

interface Walked {
  readonly tasks: readonly Task[];
  readonly more: readonly { readonly hop: number; readonly count: number }[];
}

function walk(state: TaskGraphState, start: Task, next: (task: Task) => Iterable<string>): Walked {
  const seen = new Set([start.id]);
  const tasks: Task[] = [];
  const more: { readonly hop: number; readonly count: number }[] = [];
  let edge: readonly Task[] = [start];
  for (let hop = 1; hop <= HOPS; hop += 1) {
    const found: Task[] = [];
    for (const task of edge) {
      for (const id of next(task)) {
        const other = state.tasks.get(id);
        if (other === undefined || seen.has(id)) continue;
        seen.add(id);
        found.push(other);
      }
    }
    const sorted = found.toSorted((a, b) => Number(isUnfinished(b)) - Number(isUnfinished(a)) || a.n - b.n);
    tasks.push(...sorted.slice(0, MOST_PER_HOP));
    if (sorted.length > MOST_PER_HOP) more.push({ hop, count: sorted.length - MOST_PER_HOP });
    edge = sorted;
  }
  return { tasks, more };
}

const SHOWN_TITLE = 120;

export function toNode(task: Task): GraphNode {
  return { id: task.id, title: task.title.slice(0, SHOWN_TITLE), status: taskStatus(task) };
}
