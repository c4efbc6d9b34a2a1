import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FolderProbe } from './storage-health.ts';

it('a state folder that cannot be written is reported with the time of the first failure until it can be written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-probe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stateDir = join(folder, 'state');
  let ms = 0;
  const probe = new FolderProbe({ stateDir, now: () => new Date(ms), monotonicMs: () => ms });
  expect(probe.probe(2000)).toMatchObject({ writable: false, what: 'folder', since: '1970-01-01T00:00:00.000Z' });
  ms = 1000;
  expect(probe.probe(2000)).toMatchObject({ writable: false, since: '1970-01-01T00:00:00.000Z' });
  mkdirSync(stateDir);
  expect(probe.probe(2000)).toEqual({ writable: true });
  expect(readdirSync(stateDir)).toEqual([]);
  rmSync(stateDir, { recursive: true });
  ms = 2500;
  expect(probe.probe(2000).writable).toBe(true);
  ms = 3500;
  expect(probe.probe(2000)).toMatchObject({ writable: false, since: '1970-01-01T00:00:03.500Z' });
});
