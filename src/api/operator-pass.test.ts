import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { consumePass, makePass, needsPass, removeOldPasses } from './operator-pass.ts';
import { readProcessIdentity } from './processes.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-pass-'));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const file = (name = ''): string => join(stateDir, 'passes', name);

describe('a pass', () => {
  it('names the process that made it, is private, and can be used once', () => {
    const name = makePass(stateDir) ?? '';
    expect([statSync(file()).mode & 0o777, statSync(file(name)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(consumePass(stateDir, name)).toEqual({ pid: process.pid });
    expect(consumePass(stateDir, name)).toBeUndefined();
    expect(readdirSync(file())).toEqual([]);
  });

  it('is refused and removed if it is old', () => {
    const [old = '', older = ''] = [makePass(stateDir), makePass(stateDir)];
    for (const name of [old, older]) utimesSync(file(name), new Date(), new Date(Date.now() - 61_000));
    expect(consumePass(stateDir, old)).toBeUndefined();
    const fresh = makePass(stateDir) ?? '';
    removeOldPasses(stateDir);
    expect(readdirSync(file())).toEqual([fresh]);
  });

  it('is refused if its process has ended, or another process has its number', () => {
    const write = (pid: unknown, identity: unknown): string => {
      const name = makePass(stateDir) ?? '';
      writeFileSync(file(name), JSON.stringify({ pid, identity }));
      return name;
    };
    const own = readProcessIdentity(process.pid);
    expect(consumePass(stateDir, write(process.pid, own))).toEqual({ pid: process.pid });
    for (const [pid, identity] of [
      [process.pid, `${own}0`],
      [process.pid, null],
      [2 ** 22 + 1, own],
      ['1', own],
      [-1, own],
    ])
      expect(consumePass(stateDir, write(pid, identity))).toBeUndefined();
  });

  it('must be a file in its own folder', () => {
    const name = makePass(stateDir) ?? '';
    const link = crypto.randomUUID();
    symlinkSync(file(name), file(link));
    expect(consumePass(stateDir, link)).toBeUndefined();
    writeFileSync(join(stateDir, 'secret'), '{}');
    for (const wrong of ['../secret', '', '.', `${name}/..`, 'x'.repeat(36)])
      expect(consumePass(stateDir, wrong)).toBeUndefined();
    expect(existsSync(join(stateDir, 'secret'))).toBe(true);
    writeFileSync(file(name), 'x'.repeat(5000));
    expect(consumePass(stateDir, name)).toBeUndefined();
  });

  it('is a short link if the disk is full', () => {
    makePass(stateDir);
    const link = (target: string): string => {
      const name = crypto.randomUUID();
      symlinkSync(target, file(name));
      return name;
    };
    const own = readProcessIdentity(process.pid) ?? `?/${process.pid}/?`;
    // The most that ext4 stores in the inode itself.
    expect(Buffer.byteLength(own)).toBeLessThan(60);
    const good = link(own);
    expect(consumePass(stateDir, good)).toEqual({ pid: process.pid });
    expect(consumePass(stateDir, good)).toBeUndefined();
    for (const wrong of [`${own}0`, 'x', '/etc/passwd', '?/-1/?', `a/${2 ** 22 + 1}/b`])
      expect(consumePass(stateDir, link(wrong))).toBeUndefined();
  });

  it('is needed for the tokens of the state folder, and for no session', () => {
    expect(['o.x', 'w.x', 'x', 's.x.y', 'a.x.y', 'v.x.y', undefined].map(needsPass)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
