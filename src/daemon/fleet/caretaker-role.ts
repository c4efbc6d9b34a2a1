import { type BeatAnswer, type HostRow, LEDGER_LEVEL } from '../../protocol/fleet.ts';
import { type FleetRecord, listHosts } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';

/** Whether this host is the caretaker. Times are monotonic milliseconds. */
export class CaretakerRole {
  readonly #host: string;
  #lease: { readonly term: number; readonly untilMs: number } | undefined;

  constructor(host: string) {
    this.#host = host;
  }

  get term(): number | undefined {
    return this.#lease?.term;
  }

  /** The database grants the role. The ledger must name the same term, so that hosts refuse outcomes of older terms. */
  holds(fleet: Pick<FleetRecord, 'caretaker'> | undefined, nowMs: number): boolean {
    const recorded = fleet?.caretaker;
    if (this.#lease === undefined || recorded === undefined || recorded === null) return false;
    return recorded.host === this.#host && recorded.term === this.#lease.term && nowMs < this.#lease.untilMs;
  }

  /** Counts the lease from when it was requested. The database's own clock may have started it later, never earlier. */
  read({ caretaker }: Pick<BeatAnswer, 'caretaker'>, untilMs: number): void {
    this.#lease = caretaker?.host === this.#host ? { term: caretaker.term, untilMs } : undefined;
  }
}

/** The highest level that all live hosts can read. */
export function levelOf(rows: readonly HostRow[], state: State): number {
  const names = new Set(listHosts(state).map(({ name }) => name));
  const live = rows.filter(({ host, silentMs }) => names.has(host) && silentMs < LIVE_MS);
  return Math.min(LEDGER_LEVEL, ...live.map(({ level }) => level));
}

/** A host that has been silent for longer does not delay the others. */
export const LIVE_MS = 5000;
