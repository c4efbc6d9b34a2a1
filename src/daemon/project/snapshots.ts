import { setTimeout as pause } from 'node:timers/promises';
import { storeState } from '../../ledger/state-parts.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { freezeState, type StateView, viewState } from '../../state/state-parts.ts';
import type { State } from '../../state/state.ts';
import { encodeSnapshot, SNAPSHOT_NAME } from '../loop/fold-state.ts';

interface SnapshotsOptions {
  readonly ledger: Pick<Ledger, 'head' | 'snapshotSigner' | 'store'>;
  readonly state: State;
  /** The number of entries in the stored snapshot. */
  readonly savedSize: number;
  readonly monotonicMs: () => number;
  readonly onError: (error: unknown) => void;
  readonly limits?: SnapshotLimits;
}

export interface SnapshotLimits {
  /** A running daemon writes a snapshot after this many entries. */
  readonly entries: number;
  /** Or after this time, if there are new entries. */
  readonly ms: number;
  /** The shortest time between two snapshots. */
  readonly leastMs: number;
  /** How long a stop waits for the last snapshot. */
  readonly stopMs: number;
}

const SNAPSHOT_LIMITS: SnapshotLimits = { entries: 20_000, ms: 15 * 60_000, leastMs: 30_000, stopMs: 10_000 };

/** A running daemon spends at most this share of its time on snapshots, however large the state is. */
const PAUSE_FACTOR = 20;

/**
 * Writes the state of a project from time to time, so that the next start folds few entries. Commits do not wait: the
 * maps keep the values of one moment, and each part is rendered between other requests. A stop does not depend on it:
 * the ledger is closed before, and an unfinished snapshot does not exist.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #limits: SnapshotLimits;
  #savedSize: number;
  #savedMs: number;
  /** The duration of the last one. */
  #lastMs = 0;
  #writing: { readonly ended: Promise<void>; readonly stop: AbortController } | undefined;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? SNAPSHOT_LIMITS;
    this.#savedSize = options.savedSize;
    this.#savedMs = options.monotonicMs();
  }

  /** Called after each commit, while the state is that of the ledger. */
  follow(): void {
    const { state, ledger } = this.#options;
    if (this.#writing !== undefined || !this.#isDue() || state.seq !== ledger.head.size) return;
    const view = freezeState(state);
    const stop = new AbortController();
    const ended = this.#write(view, { isUrgent: false, signal: stop.signal }).finally(() => {
      view.release();
      this.#writing = undefined;
    });
    this.#writing = { ended, stop };
  }

  /** Called when the ledger is closed. Takes at most the time limit of a stop. */
  async close(): Promise<void> {
    this.#writing?.stop.abort();
    await this.#writing?.ended;
    const { state, ledger } = this.#options;
    if (ledger.head.size === this.#savedSize || state.seq !== ledger.head.size) return;
    const signal = AbortSignal.timeout(this.#limits.stopMs);
    await this.#write(viewState(state), { isUrgent: true, signal });
  }

  #isDue(): boolean {
    const { ledger, monotonicMs } = this.#options;
    const entries = ledger.head.size - this.#savedSize;
    const ms = monotonicMs() - this.#savedMs;
    if (entries === 0 || ms < Math.max(this.#limits.leastMs, PAUSE_FACTOR * this.#lastMs)) return false;
    return entries >= this.#limits.entries || ms >= this.#limits.ms;
  }

  async #write(view: StateView, how: Pace): Promise<void> {
    const { ledger, onError, monotonicMs } = this.#options;
    const { state: parts } = ledger.store;
    const { head } = ledger;
    if (parts === undefined) return;
    const beganMs = monotonicMs();
    try {
      await storeState(parts, ledger.snapshotSigner, { name: SNAPSHOT_NAME, head }, paced(encodeSnapshot(view), how));
      this.#savedSize = head.size;
    } catch (error) {
      // Without the snapshot only the next start takes longer.
      if (!how.signal.aborted) onError(error);
    }
    this.#savedMs = monotonicMs();
    this.#lastMs = this.#savedMs - beganMs;
  }
}

interface Pace {
  /** Whether nobody waits for the daemon but those who stop it. */
  readonly isUrgent: boolean;
  readonly signal: AbortSignal;
}

/** After each part, rests for as long as the part took, so that other requests come first. */
async function* paced(parts: Iterable<Uint8Array>, { isUrgent, signal }: Pace): AsyncGenerator<Uint8Array> {
  let beganMs = performance.now();
  for (const part of parts) {
    yield part;
    signal.throwIfAborted();
    if (!isUrgent) await pause(Math.ceil(performance.now() - beganMs), undefined, { ref: false });
    beganMs = performance.now();
  }
}
