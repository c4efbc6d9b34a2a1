import type { Problem } from '../protocol/shape/problem.ts';
import { healthAfter, WRITABLE, type StoreHealth } from '../protocol/resource-faults.ts';

/** What became of the writes of one store: every write reports its outcome here. */
export class HealthLog {
  readonly #now: () => Date;
  #health: StoreHealth = WRITABLE;
  #provenMs = -Infinity;
  /** The largest write that failed for want of room since the store was last writable. */
  #lackedBytes = 0;

  constructor(now: () => Date = () => new Date()) {
    this.#now = now;
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** How long ago a write last succeeded. */
  get provenAgoMs(): number {
    return performance.now() - this.#provenMs;
  }

  /**
   * `roomBytes` is how large a write is known to fit now. On a full disk a small write can still fit where a larger one did not: that
   * proves nothing about the larger one.
   */
  succeeded(roomBytes: () => number = () => Infinity): void {
    this.#provenMs = performance.now();
    if (this.#health.writable || roomBytes() < this.#lackedBytes) return;
    this.#health = WRITABLE;
    this.#lackedBytes = 0;
  }

  /** The failure began `sinceMs` ago; `lackedBytes` is the size of a write that found no room. */
  failed(problem: Pick<Problem, 'message' | 'hint'>, sinceMs = 0, lackedBytes = 0): void {
    const since = new Date(this.#now().getTime() - sinceMs);
    this.#lackedBytes = Math.max(this.#lackedBytes, lackedBytes);
    this.#health = healthAfter(this.#health, problem, since.toISOString());
  }
}
