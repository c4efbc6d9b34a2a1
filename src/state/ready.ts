import { isClaimable } from './claim-task.ts';
import type { Recorded } from './event.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';
import type { Task } from './task.ts';

/**
 * The tasks that somebody could claim now, in the order in which they should be: those on the longest remaining chain first, then
 * by priority (the larger number first), then by age. Kept beside the state, entry by entry, so that asking costs nothing even
 * where there are a hundred thousand tasks.
 */
export interface Ready {
  /** Follows the state: call it after each `evolve` with the same entry. */
  note(state: State, recorded: Recorded): void;
  first(state: State, count: number): readonly Task[];
  readonly size: number;
}

interface Place {
  readonly id: string;
  readonly n: number;
  readonly chain: number;
  readonly priority: number;
}

export function readyTasks(state: State, rules: Rules): Ready {
  /** Length of the longest chain of open tasks that starts here; a task alone is 1. */
  const chains = new Map<string, number>();
  const places = new Map<string, Place>();
  let order: Place[] = [];
  /** Tasks whose chain, or whose place, may no longer be right. */
  const stale = { chains: new Set<string>(), places: new Set<string>() };

  for (const id of state.tasks.keys()) stale.chains.add(id);

  return {
    note(current, recorded) {
      const id = 'task_id' in recorded.data ? recorded.data.task_id : undefined;
      const task = current.tasks.get(id ?? '');
      if (task === undefined) return;
      stale.places.add(task.id);
      if (!CHANGES_CHAINS.has(recorded.type)) return;
      stale.chains.add(task.id);
      for (const dependant of current.dependants.get(task.id) ?? []) stale.places.add(dependant);
    },
    first(current, count) {
      settleChains(current);
      settlePlaces(current);
      return order.slice(0, count).flatMap(({ id }) => current.tasks.get(id) ?? []);
    },
    get size() {
      return order.length;
    },
  };

  /** Newest first: a task's dependants are mostly younger than itself, so each chain is looked at once. */
  function settleChains(current: State): void {
    if (stale.chains.size === 0) return;
    const queue = [...stale.chains].flatMap((id) => current.tasks.get(id) ?? []).sort((a, b) => a.n - b.n);
    stale.chains.clear();
    for (let task = queue.pop(); task !== undefined; task = queue.pop()) {
      stale.places.add(task.id);
      const chain = chainOf(current, task);
      if (chains.get(task.id) === chain) continue;
      chains.set(task.id, chain);
      for (const before of task.after) insertByAge(queue, current.tasks.get(before));
    }
  }

  function chainOf(current: State, task: Task): number {
    if (task.phase === 'COMPLETED') return 0;
    let longest = 0;
    for (const dependant of current.dependants.get(task.id) ?? [])
      longest = Math.max(longest, chains.get(dependant) ?? 0);
    return longest + 1;
  }

  function settlePlaces(current: State): void {
    if (stale.places.size === 0) return;
    const added: Place[] = [];
    for (const id of stale.places) {
      const old = places.get(id);
      const task = current.tasks.get(id);
      const place = task !== undefined && isClaimable(current, task, rules) ? placeOf(task) : undefined;
      if (old !== undefined && place !== undefined && compare(old, place) === 0) continue;
      if (old !== undefined) takeOut(old, stale.places.size);
      if (place === undefined) places.delete(id);
      else {
        places.set(id, place);
        added.push(place);
      }
    }
    stale.places.clear();
    putIn(added);
  }

  function placeOf({ id, n, priority }: Task): Place {
    return { id, n, priority, chain: chains.get(id) ?? 1 };
  }

  /** A few are moved one by one; many at once are sorted anew, since each move shifts everything behind it. */
  function takeOut(place: Place, howMany: number): void {
    if (howMany > MANY) return;
    const at = search(order, place);
    if (order[at] === place) order.splice(at, 1);
  }

  function putIn(added: readonly Place[]): void {
    if (added.length > MANY || order.length > places.size || order.length + added.length !== places.size) {
      order = [...places.values()].sort(compare);
      return;
    }
    for (const place of added) order.splice(search(order, place), 0, place);
  }
}

const MANY = 64;

const CHANGES_CHAINS: ReadonlySet<Recorded['type']> = new Set(['TaskCreated', 'DependencyAdded', 'PhaseMoved']);

function compare(a: Place, b: Place): number {
  return b.chain - a.chain || b.priority - a.priority || a.n - b.n;
}

/** The first place that does not come before this one. */
function search(order: readonly Place[], place: Place): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = order[middle];
    if (at !== undefined && compare(at, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insertByAge(queue: Task[], task: Task | undefined): void {
  if (task === undefined) return;
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((queue[middle]?.n ?? 0) < task.n) low = middle + 1;
    else high = middle;
  }
  if (queue[low]?.id !== task.id) queue.splice(low, 0, task);
}
