type Environment = Readonly<Record<string, string | undefined>>;

/** `BATON_RESTART=off`: something else restarts the daemon, or nothing is to. */
export function isRestartEnabled(env: Environment): boolean {
  return env['BATON_RESTART'] !== 'off';
}

/** A value that is not a positive whole number counts as not set: the daemon must not stay away because of it. */
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
  /** The wait before the first restart; it doubles with each crash in a row. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** After so many crashes in a row the watchdog gives up. */
  readonly tries: number;
  /** A daemon that has run so long did not crash at its start: the count begins again. */
  readonly steadyMs: number;
}

/** An hour in all: a full disk or an update may take that long. */
export const RESTART_TIMES: RestartTimes = { firstMs: 500, lastMs: 300_000, tries: 20, steadyMs: 60_000 };

/** How many crashes in a row this one makes, given how many there were before it and how long the daemon ran. */
export function crashesInRow(before: number, ranMs: number, { steadyMs }: RestartTimes): number {
  return ranMs >= steadyMs ? 1 : before + 1;
}

/** How long to wait before the daemon is started again; undefined: not at all. */
export function restartDelay(inRow: number, { firstMs, lastMs, tries }: RestartTimes): number | undefined {
  return inRow > tries ? undefined : Math.min(firstMs * 2 ** (inRow - 1), lastMs);
}

/** The wait after this one, if the reason for it is still there. */
export function longerDelay(delayMs: number, { lastMs }: Pick<RestartTimes, 'lastMs'>): number {
  return Math.min(delayMs * 2, lastMs);
}
