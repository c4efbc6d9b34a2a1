import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { awaySinceOf, healthAfter, type StoreHealth, WRITABLE } from '../../protocol/resource-faults.ts';

export interface ProbedStore {
  readonly health: StoreHealth;
  readonly probe: () => Promise<StoreHealth>;
}

/** Reports each change once. No event reports free disk space, so the store is probed, less and less often. */
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

  probeIfDue(nowMs: number): void {
    this.#compare();
    if (this.#isWritable || this.#isProbing || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + this.#delayMs;
    // Probes more often, because agents wait for the database.
    const isAway = awaySinceOf(this.#store.health) !== undefined;
    this.#delayMs = isAway ? FIRST_DELAY_MS : Math.min(this.#delayMs * 2, LAST_DELAY_MS);
    void this.#probe();
  }

  async #probe(): Promise<void> {
    this.#isProbing = true;
    try {
      await this.#store.probe();
    } catch {
      // The store was already known to be unavailable.
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

interface FolderProbeOptions {
  readonly stateDir: string;
  readonly now: () => Date;
  readonly monotonicMs: () => number;
}

/**
 * Probes the folder itself: on a full disk a database can often still overwrite its own pages, while no agent can start
 * and no signal can be kept.
 */
export class FolderProbe {
  readonly #options: FolderProbeOptions;
  readonly #path: string;
  #health: StoreHealth = WRITABLE;
  #provenMs = -Infinity;

  constructor(options: FolderProbeOptions) {
    this.#options = options;
    this.#path = join(options.stateDir, `probe-${process.pid}`);
  }

  probe(freshMs: number): StoreHealth {
    const { now, monotonicMs, stateDir } = this.#options;
    if (this.#health.writable && monotonicMs() - this.#provenMs < freshMs) return this.#health;
    const failure = this.#try();
    const problem = failure === undefined ? undefined : { message: `${stateDir}: ${failure}`, hint: HINT };
    this.#health = healthAfter(this.#health, problem, now().toISOString());
    if (problem === undefined) this.#provenMs = monotonicMs();
    return this.#health.writable ? this.#health : { ...this.#health, what: 'folder' };
  }

  #try(): string | undefined {
    try {
      const file = openSync(this.#path, 'w', 0o600);
      try {
        writeSync(file, PAGE);
      } finally {
        closeSync(file);
        rmSync(this.#path, { force: true });
      }
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** A smaller file could fit into space that no other file can use. */
const PAGE = Buffer.alloc(4096);
const HINT = 'Make room on its disk, or make the folder writable. Agents then start again without a command.';

const LAST_DELAY_MS = 30_000;
