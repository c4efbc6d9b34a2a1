import type { StoreHealth } from '../../protocol/resource-faults.ts';

/** As much of a ledger as the watch needs. */
export interface ProbedStore {
  readonly health: StoreHealth;
  readonly probe: () => Promise<StoreHealth>;
}

/**
 * Reports once when a store can no longer be written and once when it can again. Nothing announces that a disk has room: the store is
 * probed, less and less often. A write that succeeds meanwhile is noticed, too.
 */
export class StoreWatch {
  readonly #store: ProbedStore;
  readonly #onChange: (health: StoreHealth) => void;
  #isWritable = true;
  #isProbing = false;
  #nextMs = 0;
  #delayMs = FIRST_DELAY_MS;

  constructor(store: ProbedStore, onChange: (health: StoreHealth) => void = () => undefined) {
    this.#store = store;
    this.#onChange = onChange;
  }

  /** Called at every tick of a clock that never jumps. */
  probeIfDue(nowMs: number): void {
    this.#compare();
    if (this.#isWritable || this.#isProbing || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + this.#delayMs;
    this.#delayMs = Math.min(this.#delayMs * 2, LAST_DELAY_MS);
    void this.#probe();
  }

  async #probe(): Promise<void> {
    this.#isProbing = true;
    try {
      await this.#store.probe();
    } catch {
      // A probe that fails says nothing new.
    }
    this.#isProbing = false;
    this.#compare();
  }

  #compare(): void {
    const { health } = this.#store;
    if (health.writable === this.#isWritable) return;
    this.#isWritable = health.writable;
    if (health.writable) [this.#nextMs, this.#delayMs] = [0, FIRST_DELAY_MS];
    this.#onChange(health);
  }
}

const FIRST_DELAY_MS = 1000;
const LAST_DELAY_MS = 30_000;
