import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RunbookWatch } from './runbook-watch.ts';

it('calls its followers with every valid runbook, and keeps the last one', () => {
  const { folder } = repository();
  const watch = new RunbookWatch(folder);
  const seen: string[] = [];
  watch.follow(({ pipelines }) => seen.push([...pipelines.keys()].join()));
  const write = (name: string, rest = ''): void =>
    writeFileSync(join(folder, 'baton.toml'), `[pipelines.${name}]\nsteps = [{ name = "s", run = "true" }]\n${rest}`);
  write('one');
  expect(watch.read().checked.ok).toBe(true);
  write('two', 'nonsense = 1\n');
  expect(watch.read().checked.ok).toBe(false);
  expect([...(watch.lastValid?.pipelines.keys() ?? [])]).toEqual(['one']);
  write('three');
  watch.readIfDue(performance.now());
  expect(seen).toEqual(['one', 'three']);
});

function repository(): { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'baton-exit-protocol-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder };
}
