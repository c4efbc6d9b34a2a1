import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitProtocolSetting } from './exit-protocol-setting.ts';

describe('exit_protocol in a runbook', () => {
  it.each([
    ['exit_protocol = true', true],
    ['# a comment\r\n\r\n  exit_protocol=true # on\r\n[agents.a]\r\nrun = "claude"\r\n', true],
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
    expect(exitProtocolSetting(folder)()).toBe(expected);
  });

  it('is off where there is no runbook', () => {
    expect(exitProtocolSetting(repository().folder)()).toBe(false);
  });

  it('follows the files, wherever in the runbook it stands', () => {
    const { folder } = repository();
    const isOn = exitProtocolSetting(folder);
    expect(isOn()).toBe(false);
    mkdirSync(join(folder, '.baton/runbooks'), { recursive: true });
    writeFileSync(join(folder, '.baton/runbooks/settings.yaml'), 'exit_protocol: true\n');
    expect(isOn()).toBe(true);
    rmSync(join(folder, '.baton/runbooks/settings.yaml'));
    expect(isOn()).toBe(false);
  });

  it('is not switched off by a mistake elsewhere, nor by a file that cannot be read for the moment', () => {
    const { folder } = repository();
    const isOn = exitProtocolSetting(folder);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = true\n[agents.a]\nrnu = "claude"\n');
    expect(isOn()).toBe(true);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = true\n[agents.a\n');
    expect(isOn()).toBe(true);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = false\n');
    expect(isOn()).toBe(false);
  });
});

function repository(): { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'baton-exit-protocol-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder };
}
