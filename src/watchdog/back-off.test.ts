import { describe, expect, it } from 'vitest';
import {
  crashesInRow,
  isRestartEnabled,
  longerDelay,
  readRestartTimes,
  RESTART_TIMES,
  restartDelay,
} from './restart-times.ts';

const TIMES = { firstMs: 100, lastMs: 1000, tries: 6, steadyMs: 5000 };

describe('a daemon that crashes', () => {
  it('is started again after waits that grow up to a bound, and then not at all', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((inRow) => restartDelay(inRow, TIMES));
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, undefined]);
  });

  it('is looked for less and less often while another process has its lock', () => {
    expect([1, 400, 900].map((delayMs) => longerDelay(delayMs, TIMES))).toEqual([2, 800, 1000]);
  });

  it('begins a new row if it has run for a while', () => {
    expect(crashesInRow(5, 4999, TIMES)).toBe(6);
    expect(crashesInRow(5, 5000, TIMES)).toBe(1);
  });

  it('is given about an hour by default', () => {
    const all = Array.from({ length: RESTART_TIMES.tries }, (_, i) => restartDelay(i + 1, RESTART_TIMES) ?? 0);
    const minutes = all.reduce((sum, ms) => sum + ms, 0) / 60_000;
    expect(minutes).toBeGreaterThan(45);
    expect(minutes).toBeLessThan(75);
  });

  it('has its times from the environment, where they are whole numbers', () => {
    const env = { BATON_RESTART_FIRST_MS: '5', BATON_RESTART_LAST_MS: 'soon', BATON_RESTART_TRIES: '0' };
    expect(readRestartTimes(env)).toEqual({ ...RESTART_TIMES, firstMs: 5 });
    expect([isRestartEnabled({}), isRestartEnabled({ BATON_RESTART: 'off' })]).toEqual([true, false]);
  });
});
