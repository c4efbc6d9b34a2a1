import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RunbookWatch } from './runbook-watch.ts';

describe('exit_protocol in a runbook', () => {
  it.each([
    ['exit_protocol = true', true],
    ['# a comment\r\n\r\n  exit_protocol=true # on\r\n[agents.a]\r\nrun = "./agent"\r\n', true],
    ['"exit_protocol" = true', true],
    ["store = '''postgres://one-line'''\nexit_protocol = true", true],
    ['exit_protocol = false', false],
    ['exit_protocol = "true"', false],
    ['# exit_protocol = true', false],
    ['[limits]\nexit_protocol = true', false],
    ['my_exit_protocol = true', false],
    ['', false],
  ])('%j is %s', (toml, expected) => {
    const { folder } = repository();
    writeFileSync(join(folder, 'baton.toml'), toml);
    expect(new RunbookWatch(folder).readExitProtocol()).toBe(expected);
  });

  it('is off if there is no runbook', () => {
    expect(new RunbookWatch(repository().folder).readExitProtocol()).toBe(false);
  });

  it('follows the files, whichever of them has the setting', () => {
    const { folder } = repository();
    const runbook = new RunbookWatch(folder);
    expect(runbook.readExitProtocol()).toBe(false);
    mkdirSync(join(folder, '.baton/runbooks'), { recursive: true });
    writeFileSync(join(folder, '.baton/runbooks/settings.yaml'), 'exit_protocol: true\n');
    expect(runbook.readExitProtocol()).toBe(true);
    rmSync(join(folder, '.baton/runbooks/settings.yaml'));
    expect(runbook.readExitProtocol()).toBe(false);
  });

  it('is not switched off by an error elsewhere, nor by a temporarily unreadable file', () => {
    const { folder } = repository();
    const runbook = new RunbookWatch(folder);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = true\n[agents.a]\nrnu = "claude"\n');
    expect(runbook.readExitProtocol()).toBe(true);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = true\n[agents.a\n');
    expect(runbook.readExitProtocol()).toBe(true);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = false\n');
    expect(runbook.readExitProtocol()).toBe(false);
  });
});

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
