/** One beat: the host's wall clock when it was sent, how long the answer took, and the database's clock in it. */
export interface ClockSample {
  readonly sentMs: number;
  readonly tripMs: number;
  readonly databaseMs: number;
}

export interface ClockOffset {
  /** The host's clock minus the database's. */
  readonly offsetMs: number;
  /** The true offset lies within this distance. */
  readonly errorMs: number;
}

/** The database read its clock at some moment of the trip; the middle is wrong by at most half of it. */
export function measureOffset({ sentMs, tripMs, databaseMs }: ClockSample): ClockOffset {
  return { offsetMs: sentMs + tripMs / 2 - databaseMs, errorMs: tripMs / 2 };
}

/**
 * Keeps the better of the known offset and a new measurement. A clock that was set differs by more than both errors, and
 * then the new one counts. An old measurement gets worse with time, because clocks drift.
 */
export function betterOffset(known: ClockOffset | undefined, measured: ClockOffset, sinceMs: number): ClockOffset {
  if (known === undefined) return measured;
  const errorMs = known.errorMs + sinceMs * DRIFT;
  const isApart = Math.abs(known.offsetMs - measured.offsetMs) > errorMs + measured.errorMs;
  return isApart || measured.errorMs <= errorMs ? measured : { offsetMs: known.offsetMs, errorMs };
}

/** 500 parts per million: what a quartz may drift while nothing corrects it. */
const DRIFT = 0.0005;

/** A clock this far off is named to people. Nothing depends on it: claims and timers follow the database. */
const WRONG_CLOCK_MS = 5_000;

export function isClockWrong({ offsetMs, errorMs }: ClockOffset): boolean {
  return Math.abs(offsetMs) - errorMs > WRONG_CLOCK_MS;
}
