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
  it('is restarted after growing, limited delays, and then not at all', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((inRow) => restartDelay(inRow, TIMES));
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, undefined]);
  });

  it('is polled less and less often while another process holds its lock', () => {
    expect([1, 400, 900].map((delayMs) => longerDelay(delayMs, TIMES))).toEqual([2, 800, 1000]);
  });

  it('starts a new count if it has run for a while', () => {
    expect(crashesInRow(5, 4999, TIMES)).toBe(6);
    expect(crashesInRow(5, 5000, TIMES)).toBe(1);
  });

  it('gets about an hour by default', () => {
    const all = Array.from({ length: RESTART_TIMES.tries }, (_, i) => restartDelay(i + 1, RESTART_TIMES) ?? 0);
    const minutes = all.reduce((sum, ms) => sum + ms, 0) / 60_000;
    expect(minutes).toBeGreaterThan(45);
    expect(minutes).toBeLessThan(75);
  });

  it('reads its times from the environment if they are integers', () => {
    const env = { BATON_RESTART_FIRST_MS: '5', BATON_RESTART_LAST_MS: 'soon', BATON_RESTART_TRIES: '0' };
    expect(readRestartTimes(env)).toEqual({ ...RESTART_TIMES, firstMs: 5 });
    expect([isRestartEnabled({}), isRestartEnabled({ BATON_RESTART: 'off' })]).toEqual([true, false]);
  });
});
