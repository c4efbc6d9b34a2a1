import { expect, it } from 'vitest';
import { runKillRounds } from './sqlite-kill.ts';

it('loses nothing that was acknowledged when the writer is killed 20 times', async () => {
  const report = await runKillRounds(20);
  expect(report.faults).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(20);
  expect(report.entries).toBeGreaterThanOrEqual(report.acknowledged);
}, 120_000);
