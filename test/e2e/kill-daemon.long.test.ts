import { expect, it } from 'vitest';
import { runDaemonKills } from '../faults/daemon-kill.ts';

it('what 16 clients were answered is recorded once, whatever they sent while the daemon was killed 4 times', async () => {
  const report = await runDaemonKills({ rounds: 4, commands: 800 });
  expect(report.faults).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(400);
  expect(report.retried + report.unheard.recorded + report.unheard.notRecorded).toBeGreaterThan(0);
}, 900_000);
