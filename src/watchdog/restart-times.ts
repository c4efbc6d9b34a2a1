type Environment = Readonly<Record<string, string | undefined>>;

/** Reports whether the watchdog restarts the daemon. `BATON_RESTART=off`: another program does, or none should. */
export function isRestartEnabled(env: Environment): boolean {
  return env['BATON_RESTART'] !== 'off';
}

/**
 * Reads the delays from the environment. A value that is not a positive integer is ignored, because it must not keep
 * the daemon down.
 */
export function readRestartTimes(env: Environment): RestartTimes {
  const read = (name: string, otherwise: number): number => {
    const value = Number(env[name] ?? '');
    return Number.isSafeInteger(value) && value >= 1 && value < 2 ** 31 ? value : otherwise;
  };
  return {
    firstMs: read('BATON_RESTART_FIRST_MS', RESTART_TIMES.firstMs),
    lastMs: read('BATON_RESTART_LAST_MS', RESTART_TIMES.lastMs),
    tries: read('BATON_RESTART_TRIES', RESTART_TIMES.tries),
    steadyMs: read('BATON_RESTART_STEADY_MS', RESTART_TIMES.steadyMs),
  };
}

export interface RestartTimes {
  /** The delay before the first restart; it doubles with each crash in a row. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The watchdog gives up after this many crashes in a row. */
  readonly tries: number;
  /** A daemon that ran this long did not crash at its start, so the count is reset. */
  readonly steadyMs: number;
}

/** An hour in total, because a full disk or an update may take that long. */
export const RESTART_TIMES: RestartTimes = { firstMs: 500, lastMs: 300_000, tries: 20, steadyMs: 60_000 };

export function crashesInRow(before: number, ranMs: number, { steadyMs }: RestartTimes): number {
  return ranMs >= steadyMs ? 1 : before + 1;
}

/** The delay before the next restart; undefined if the watchdog gives up. */
export function restartDelay(inRow: number, { firstMs, lastMs, tries }: RestartTimes): number | undefined {
  return inRow > tries ? undefined : Math.min(firstMs * 2 ** (inRow - 1), lastMs);
}

/** The delay to use if the same reason persists. */
export function longerDelay(delayMs: number, { lastMs }: Pick<RestartTimes, 'lastMs'>): number {
  return Math.min(delayMs * 2, lastMs);
}
