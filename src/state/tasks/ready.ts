import type { Phase } from '../../protocol/phase.ts';
import type { RecordedEvent } from '../event.ts';
import { type Rules, rulesInForce } from '../rules.ts';
import { dependantsOf } from '../dependants.ts';
import type { State } from '../state.ts';
import { isClaimable, isClosable } from './claim-task.ts';
import type { Task } from './task.ts';

/**
 * The tasks that can be claimed now, in order: longest remaining chain first, then priority (larger first), then
 * those that people made, then age. Tasks that sessions made lengthen no chain, since agents choose what they wait for.
 * Updated with each entry and kept in groups, so that a query is fast even with a hundred thousand tasks, and does not
 * look at tasks of other roles.
 */
export interface ReadyTasks {
  /** Called with each entry after it was folded or rolled back. It only marks what may have changed. */
  note(state: State, recorded: RecordedEvent): void;
  /** The most urgent tasks; with a role, those that wait for it or for no role. */
  first(state: State, count: number, role?: string): readonly Task[];
  /** The completed tasks that a role has yet to close. Only requests for that role, or for these tasks, return them. */
  closing(state: State, count: number): readonly Task[];
  /** The most urgent tasks of some groups, completed ones included. */
  ofGroups(state: State, count: number, isWanted: (group: ReadyGroup) => boolean): readonly Task[];
  hasRunbook(state: State, sha256: string): boolean;
}

/** What tasks of one queue have in common. */
export interface ReadyGroup {
  readonly phase: Phase;
  /** The role that works next; null if any role may claim it. */
  readonly role: string | null;
  readonly isInWorkflow: boolean;
}

export function trackReadyTasks(state: State, rules: Rules): ReadyTasks {
  /** Length of the longest chain of open tasks that starts at this task; 1 for a task alone. */
  const chains = new Map<string, number>();
  const positions = new Map<string, ReadyPosition>();
  const queues = new Map<string, { readonly group: ReadyGroup; readonly queue: ReadyQueue }>();
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
    first: (current, count, role) =>
      firstOf(current, count, (group) =>
        role === undefined ? !isToClose(group) : group.role === null || group.role === role,
      ),
    closing: (current, count) => firstOf(current, count, isToClose),
    ofGroups: firstOf,
    hasRunbook(current, sha256) {
      settle(current);
      return (ofRunbook.get(sha256) ?? 0) > 0;
    },
  };

  function firstOf(current: State, count: number, isWanted: (group: ReadyGroup) => boolean): readonly Task[] {
    settle(current);
    const found: QueuePosition[][] = [];
    for (const { group, queue } of queues.values()) {
      const first = isWanted(group) ? queue.first(count) : [];
      if (first.length > 0) found.push([...first]);
    }
    const [only = [], ...others] = found;
    const places = others.length === 0 ? only : found.flat().sort(compareUrgency).slice(0, count);
    return places.flatMap(({ id }) => current.tasks.get(id) ?? []);
  }

  function settle(current: State): void {
    settleChains(current);
    settlePlaces(current);
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
    for (const dependant of dependantsOf(current, task.id))
      if (depthOf(current.tasks.get(dependant)) === 0) longest = Math.max(longest, chains.get(dependant) ?? 0);
    return longest + 1;
  }

  function settlePlaces(current: State): void {
    if (stale.places.size === 0) return;
    const changes = new Map<string, { readonly out: ReadyPosition[]; readonly put: ReadyPosition[] }>();
    const changeOf = (place: ReadyPosition) => {
      const change = changes.get(place.key) ?? { out: [], put: [] };
      changes.set(place.key, change);
      return change;
    };
    for (const id of stale.places) {
      const old = positions.get(id);
      const place = placeOf(current, id);
      if (old !== undefined && place !== undefined && isSamePlace(old, place)) continue;
      if (old !== undefined) {
        changeOf(old).out.push(old);
        positions.delete(id);
        countRunbook(old, -1);
      }
      if (place !== undefined) {
        changeOf(place).put.push(place);
        positions.set(id, place);
        countRunbook(place, 1);
      }
    }
    stale.places.clear();
    for (const [key, { out, put }] of changes) queues.get(key)?.queue.change(out, put);
  }

  function countRunbook({ runbook }: ReadyPosition, by: number): void {
    if (runbook !== null) ofRunbook.set(runbook, (ofRunbook.get(runbook) ?? 0) + by);
  }

  function placeOf(current: State, id: string): ReadyPosition | undefined {
    const task = current.tasks.get(id);
    if (task === undefined) return undefined;
    const { n, priority } = task;
    const depth = depthOf(task);
    const { runbook } = task.flow;
    if (isClosable(task)) return { id, n, priority, depth, chain: 0, runbook, key: keyOf(task) };
    if (!isClaimable(current, task, rulesInForce(current, rules))) return undefined;
    return { id, n, priority, depth, chain: chains.get(id) ?? 1, runbook, key: keyOf(task) };
  }

  /** Creates the queue of the task's group if there is none yet. */
  function keyOf({ phase, nextRole: role, flow }: Task): string {
    const isInWorkflow = flow.mode !== null;
    const key = `${phase} ${isInWorkflow ? 'workflow' : 'plain'} ${role ?? ''}`;
    if (!queues.has(key)) queues.set(key, { group: { phase, role, isInWorkflow }, queue: createQueue() });
    return key;
  }
}

function depthOf(task: Task | undefined): number {
  return task?.origin?.depth ?? 0;
}

/** A completed task is ready only to be closed. */
function isToClose({ phase }: ReadyGroup): boolean {
  return phase === 'COMPLETED';
}

function isSamePlace(one: ReadyPosition, other: ReadyPosition): boolean {
  return compareUrgency(one, other) === 0 && one.key === other.key && one.runbook === other.runbook;
}

interface ReadyPosition extends QueuePosition {
  /** The key of its group's queue. */
  readonly key: string;
  /** The runbook of its workflow; null for the one in force. */
  readonly runbook: string | null;
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
  /** How far below a task of a person: see `task-family.ts`. */
  readonly depth: number;
}

/** A sorted list of positions, of which few change at a time. */
export interface ReadyQueue {
  first(count: number): readonly QueuePosition[];
  /** Removes and adds positions. The removed ones must be the objects that were added. */
  change(out: readonly QueuePosition[], put: readonly QueuePosition[]): void;
}

/** Orders by urgency, the most urgent first. Serial numbers are unique, so no two positions are equal. */
export function compareUrgency(a: QueuePosition, b: QueuePosition): number {
  return b.chain - a.chain || b.priority - a.priority || a.depth - b.depth || a.n - b.n;
}

export function createQueue(): ReadyQueue {
  let order: QueuePosition[] = [];
  return {
    first: (count) => order.slice(0, count),
    change(out, put) {
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
