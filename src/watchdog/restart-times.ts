import { RESTART_TIMES, type RestartTimes } from './back-off.ts';

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
