import type { RecordedEvent } from '../event.ts';
import { type Rules, rulesInForce } from '../rules.ts';
import { dependantsOf, type State } from '../state.ts';
import { isClaimable, isClosable } from './claim-task.ts';
import type { Task } from './task.ts';

/**
 * The tasks that can be claimed now, in order: longest remaining chain first, then priority (larger first), then age.
 * Updated with each entry, so that a query is fast even with a hundred thousand tasks.
 */
export interface ReadyTasks {
  /** Called with each entry after it was folded or rolled back. It only marks what may have changed. */
  note(state: State, recorded: RecordedEvent): void;
  /** The most urgent tasks; with a role, those that wait for it or for no role. */
  first(state: State, count: number, role?: string): readonly Task[];
  /** The completed tasks that a role has yet to close. Only requests for that role, or for these tasks, return them. */
  closing(state: State, count: number): readonly Task[];
  hasRunbook(state: State, sha256: string): boolean;
}

export function trackReadyTasks(state: State, rules: Rules): ReadyTasks {
  /** Length of the longest chain of open tasks that starts at this task; 1 for a task alone. */
  const chains = new Map<string, number>();
  const queue = createQueue();
  const closing = createQueue();
  /** The positions by role, so that a query does not search other roles' work. */
  const ofRole = new Map<string | null, ReadyQueue>();
  const ofRunbook = new Map<string, number>();
  const stale = { chains: new Set(state.tasks.keys()), places: new Set<string>() };

  return {
    note(current, { type, data }) {
      // The rules decide whether a task in CI_PENDING can be claimed.
      if (type === 'RunbookAdopted')
        for (const task of current.tasks.values()) if (task.phase === 'CI_PENDING') stale.places.add(task.id);
      const id = 'task_id' in data ? data.task_id : undefined;
      if (id === undefined || id === null) return;
      stale.places.add(id);
      if (type === 'TaskCreated') markChains(id, ...data.after);
      if (type === 'DependencyAdded') markChains(id, data.after);
      if (type !== 'PhaseMoved' || (data.from === 'COMPLETED') === (data.to === 'COMPLETED')) return;
      markChains(id);
      for (const dependant of dependantsOf(current, id)) stale.places.add(dependant);
    },
    first(current, count, role) {
      settleChains(current);
      settlePlaces(current);
      const places = role === undefined ? queue.first(count) : firstOf(role, count);
      return places.flatMap(({ id }) => current.tasks.get(id) ?? []);
    },
    closing(current, count) {
      settleChains(current);
      settlePlaces(current);
      return closing.first(count).flatMap(({ id }) => current.tasks.get(id) ?? []);
    },
    hasRunbook(current, sha256) {
      settleChains(current);
      settlePlaces(current);
      return (ofRunbook.get(sha256) ?? 0) > 0;
    },
  };

  function firstOf(role: string, count: number): readonly QueuePosition[] {
    const [own = [], anybodys = []] = [role, null].map((each) => ofRole.get(each)?.first(count));
    return own.length === 0 ? anybodys : [...own, ...anybodys].sort(compareUrgency).slice(0, count);
  }

  function markChains(...ids: readonly string[]): void {
    for (const id of ids) stale.chains.add(id);
  }

  /** Newest first, because dependants are mostly younger, so that each chain is computed once. */
  function settleChains(current: State): void {
    if (stale.chains.size === 0) return;
    const waiting: Task[] = [];
    for (const id of stale.chains) {
      const task = current.tasks.get(id);
      if (task === undefined) chains.delete(id);
      else waiting.push(task);
    }
    waiting.sort((a, b) => a.n - b.n);
    stale.chains.clear();
    for (let task = waiting.pop(); task !== undefined; task = waiting.pop()) {
      stale.places.add(task.id);
      const chain = chainOf(current, task);
      if (chains.get(task.id) === chain) continue;
      chains.set(task.id, chain);
      for (const before of task.after) insertByAge(waiting, current.tasks.get(before));
    }
  }

  function chainOf(current: State, task: Task): number {
    if (task.phase === 'COMPLETED') return 0;
    let longest = 0;
    for (const dependant of dependantsOf(current, task.id)) longest = Math.max(longest, chains.get(dependant) ?? 0);
    return longest + 1;
  }

  function settlePlaces(current: State): void {
    if (stale.places.size === 0) return;
    const out: QueuePosition[] = [];
    const put: QueuePosition[] = [];
    for (const id of stale.places) {
      const old = queue.find(id) ?? closing.find(id);
      const place = placeOf(current, id);
      if (old !== undefined && place !== undefined && isSamePlace(old, place)) continue;
      if (old !== undefined) out.push(old);
      if (place !== undefined) put.push(place);
    }
    stale.places.clear();
    const isOpen = ({ chain }: QueuePosition): boolean => chain > 0;
    countRunbooks(out, -1);
    countRunbooks(put, 1);
    queue.change(out.filter(isOpen), put.filter(isOpen));
    const isClosed = ({ chain }: QueuePosition): boolean => chain === 0;
    closing.change(out.filter(isClosed), put.filter(isClosed));
    for (const role of new Set([...out, ...put].map((place) => place.role))) {
      const known = ofRole.get(role) ?? createQueue();
      ofRole.set(role, known);
      const isOfRole = (place: QueuePosition): boolean => place.role === role;
      known.change(out.filter(isOfRole), put.filter(isOfRole));
    }
  }

  function countRunbooks(places: readonly QueuePosition[], by: number): void {
    for (const { runbook } of places) if (runbook) ofRunbook.set(runbook, (ofRunbook.get(runbook) ?? 0) + by);
  }

  function placeOf(current: State, id: string): QueuePosition | undefined {
    const task = current.tasks.get(id);
    if (task === undefined) return undefined;
    const { n, priority, nextRole: role } = task;
    const { runbook } = task.flow;
    if (isClosable(task)) return { id, n, priority, chain: 0, role, runbook };
    if (!isClaimable(current, task, rulesInForce(current, rules))) return undefined;
    return { id, n, priority, chain: chains.get(id) ?? 1, role, runbook };
  }
}

function isSamePlace(one: QueuePosition, other: QueuePosition): boolean {
  return compareUrgency(one, other) === 0 && one.role === other.role && one.runbook === other.runbook;
}

function insertByAge(waiting: Task[], task: Task | undefined): void {
  if (task === undefined) return;
  let low = 0;
  let high = waiting.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((waiting[middle]?.n ?? 0) < task.n) low = middle + 1;
    else high = middle;
  }
  if (waiting[low]?.id !== task.id) waiting.splice(low, 0, task);
}

export interface QueuePosition {
  readonly id: string;
  readonly n: number;
  readonly chain: number;
  readonly priority: number;
  /** The role that works next; null if any role may claim it. */
  readonly role: string | null;
  /** The runbook of its workflow; absent or null for the one in force. */
  readonly runbook?: string | null;
}

/** A sorted list of positions, of which few change at a time. */
export interface ReadyQueue {
  find(id: string): QueuePosition | undefined;
  first(count: number): readonly QueuePosition[];
  /** Removes and adds positions. The removed ones must be the objects that `find` returned. */
  change(out: readonly QueuePosition[], put: readonly QueuePosition[]): void;
}

/** Orders by urgency, the most urgent first. Serial numbers are unique, so no two positions are equal. */
export function compareUrgency(a: QueuePosition, b: QueuePosition): number {
  return b.chain - a.chain || b.priority - a.priority || a.n - b.n;
}

export function createQueue(): ReadyQueue {
  const places = new Map<string, QueuePosition>();
  let order: QueuePosition[] = [];
  return {
    find: (id) => places.get(id),
    first: (count) => order.slice(0, count),
    change(out, put) {
      for (const { id } of out) places.delete(id);
      for (const place of put) places.set(place.id, place);
      if (out.length + put.length > BULK_CHANGE_MIN) order = merge(order, new Set(out), [...put].sort(compareUrgency));
      else changeOneByOne(order, out, put);
    },
  };
}

/** Each single change shifts all later positions, so for more changes than this, one pass over the list is cheaper. */
const BULK_CHANGE_MIN = 64;

function changeOneByOne(order: QueuePosition[], out: readonly QueuePosition[], put: readonly QueuePosition[]): void {
  for (const place of out) order.splice(search(order, place), 1);
  for (const place of put) order.splice(search(order, place), 0, place);
}

function merge(
  order: readonly QueuePosition[],
  out: ReadonlySet<QueuePosition>,
  put: readonly QueuePosition[],
): QueuePosition[] {
  const merged: QueuePosition[] = [];
  let i = 0;
  for (const place of order) {
    if (out.has(place)) continue;
    for (let next = put[i]; next !== undefined && compareUrgency(next, place) < 0; next = put[i]) {
      merged.push(next);
      i += 1;
    }
    merged.push(place);
  }
  return merged.concat(put.slice(i));
}

/** Finds the first position that is not before this one. */
function search(order: readonly QueuePosition[], place: QueuePosition): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = order[middle];
    if (at !== undefined && compareUrgency(at, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
