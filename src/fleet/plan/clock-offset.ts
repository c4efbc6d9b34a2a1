/**
 * One beat: the host's wall clock at the start, the length of the round trip, and the database's clock in the answer.
 */
export interface ClockSample {
  readonly sentMs: number;
  readonly tripMs: number;
  readonly databaseMs: number;
}

export interface ClockOffset {
  /** The host's clock minus the database's. */
  readonly offsetMs: number;
  /** The true offset differs from `offsetMs` by at most this. */
  readonly errorMs: number;
}

/** The database read its clock at some moment of the round trip, so the middle is off by at most half of it. */
export function measureOffset({ sentMs, tripMs, databaseMs }: ClockSample): ClockOffset {
  return { offsetMs: sentMs + tripMs / 2 - databaseMs, errorMs: tripMs / 2 };
}

/**
 * Returns the better of the known offset and a new measurement. If the two differ by more than both errors, a clock was
 * set, and the new one counts. An old measurement loses accuracy with time, because clocks drift.
 */
export function betterOffset(known: ClockOffset | undefined, measured: ClockOffset, sinceMs: number): ClockOffset {
  if (known === undefined) return measured;
  const errorMs = known.errorMs + sinceMs * DRIFT;
  const isApart = Math.abs(known.offsetMs - measured.offsetMs) > errorMs + measured.errorMs;
  return isApart || measured.errorMs <= errorMs ? measured : { offsetMs: known.offsetMs, errorMs };
}

/** 500 parts per million: how far a quartz may drift while nothing corrects it. */
const DRIFT = 0.0005;

/**
 * A clock that is off by more than this is reported. Nothing else depends on it: claims and timers follow the database.
 */
const WRONG_CLOCK_MS = 5_000;

export function isClockWrong({ offsetMs, errorMs }: ClockOffset): boolean {
  return Math.abs(offsetMs) - errorMs > WRONG_CLOCK_MS;
}
