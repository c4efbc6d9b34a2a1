/** A task's place among those that can be claimed. */
export interface QueuePosition {
  readonly id: string;
  readonly n: number;
  readonly chain: number;
  readonly priority: number;
  /** The role whose turn it is; null where anybody may have it. */
  readonly role: string | null;
  /** The runbook that its workflow was started with; left out or null: the one in force. */
  readonly runbook?: string | null;
}

/** Places in their order, which changes a little at a time. */
export interface ReadyQueue {
  find(id: string): QueuePosition | undefined;
  first(count: number): readonly QueuePosition[];
  /** Takes some out and puts others in; those that go out are the very ones that `find` gave. */
  change(out: readonly QueuePosition[], put: readonly QueuePosition[]): void;
}

/** The more urgent comes first. Serial numbers are unique, so no two places are equal. */
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

/** Each single change shifts everything behind it: past a few it is cheaper to go through all places once. */
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

/** The first place that does not come before this one. */
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
