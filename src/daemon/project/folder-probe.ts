import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { healthAfter, WRITABLE, type StoreHealth } from '../../protocol/resource-faults.ts';

export interface FolderProbeOptions {
  readonly stateDir: string;
  readonly now: () => Date;
  readonly monotonicMs: () => number;
}

/**
 * Whether a file can be written into the state folder. A ledger can often be written on a full disk, since a database overwrites pages that it has,
 * while no agent can be started and no signal can be kept.
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

  /** Tries it, unless it succeeded less than `freshMs` ago. */
  probe(freshMs: number): StoreHealth {
    const { now, monotonicMs, stateDir } = this.#options;
    if (this.#health.writable && monotonicMs() - this.#provenMs < freshMs) return this.#health;
    const failure = this.#try();
    const problem = failure === undefined ? undefined : { message: `${stateDir}: ${failure}`, hint: HINT };
    this.#health = healthAfter(this.#health, problem, now().toISOString());
    if (problem === undefined) this.#provenMs = monotonicMs();
    return this.#health.writable ? this.#health : { ...this.#health, what: 'folder' };
  }

  /** Returns the reason if it fails. */
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

/** Less fits into room that no other file can use. */
const PAGE = Buffer.alloc(4096);

const HINT = 'Make room on its disk, or make the folder writable. Agents are started again by themselves.';
