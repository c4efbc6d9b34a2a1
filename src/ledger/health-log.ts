import type { Problem } from '../protocol/problem.ts';
import { healthAfter, WRITABLE, type StoreHealth } from '../protocol/store-health.ts';

/** What became of the writes of one store: every write reports its outcome here. */
export class HealthLog {
  readonly #now: () => Date;
  #health: StoreHealth = WRITABLE;
  #provenMs = -Infinity;

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

  succeeded(): void {
    this.#provenMs = performance.now();
    if (!this.#health.writable) this.#health = WRITABLE;
  }

  /** The failure began `sinceMs` ago. */
  failed(problem: Pick<Problem, 'message' | 'hint'>, sinceMs = 0): void {
    const since = new Date(this.#now().getTime() - sinceMs);
    this.#health = healthAfter(this.#health, problem, since.toISOString());
  }
}
