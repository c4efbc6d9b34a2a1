interface Item {
  readonly at: number;
  readonly serial: number;
  readonly act: () => void;
}

/** What happens next, by virtual time. Equal times happen in the order in which they were scheduled. */
export class Timetable {
  nowMs = 0;
  readonly #heap: Item[] = [];
  #serial = 0;

  get size(): number {
    return this.#heap.length;
  }

  in(ms: number, act: () => void): void {
    const item = { at: this.nowMs + Math.max(0, ms), serial: (this.#serial += 1), act };
    const heap = this.#heap;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, item)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = item;
  }

  /** Runs the next item, unless it is due after `untilMs`. Returns false if there is none. */
  step(untilMs: number): boolean {
    const [first] = this.#heap;
    if (first === undefined || first.at > untilMs) return false;
    this.#removeFirst();
    this.nowMs = first.at;
    first.act();
    return true;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

function isBefore(one: Item, other: Item): boolean {
  return one.at < other.at || (one.at === other.at && one.serial < other.serial);
}
