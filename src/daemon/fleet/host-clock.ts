import { bootMs } from '../../api/boot-clock.ts';
import { betterOffset, type ClockOffset, measureOffset } from '../../fleet/plan/clock-offset.ts';

interface Clocks {
  readonly wallMs: () => number;
  readonly bootMs: () => number;
}

/**
 * The clock of this host, corrected by measurements against the database. On SQLite it is not corrected. Between two
 * measurements it follows the monotonic clock, because setting the wall clock must not make a timer due.
 */
export class HostClock {
  readonly #clocks: Clocks;
  #measured: { readonly offset: ClockOffset; readonly wallMs: number; readonly bootMs: number } | undefined;

  constructor(clocks: Clocks = { wallMs: Date.now, bootMs }) {
    this.#clocks = clocks;
  }

  /** The host's own clock minus the database's, by the last measurement. */
  get offsetMs(): number {
    return Math.round(this.#measured?.offset.offsetMs ?? 0);
  }

  now(): Date {
    if (this.#measured === undefined) return new Date(this.#clocks.wallMs());
    const { wallMs, bootMs: measuredMs } = this.#measured;
    return new Date(wallMs - this.offsetMs + this.#clocks.bootMs() - measuredMs);
  }

  /** `databaseMs` is the database's clock in an answer that took `tripMs` and has just arrived. */
  measure(databaseMs: number, tripMs: number): void {
    const [wallMs, nowMs] = [this.#clocks.wallMs(), this.#clocks.bootMs()];
    const measured = measureOffset({ sentMs: wallMs - tripMs, tripMs, databaseMs });
    const offset = betterOffset(this.#measured?.offset, measured, nowMs - (this.#measured?.bootMs ?? nowMs));
    this.#measured = { offset, wallMs, bootMs: nowMs };
  }
}
