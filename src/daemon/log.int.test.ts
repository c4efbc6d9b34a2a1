import { readFileSync, rmSync, statSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SERVER_LIMITS } from './limits.ts';
import { openLog } from './log.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-log-'));
  path = join(folder, 'daemon.log');
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

describe('the log', () => {
  it('is JSON lines that only the user can read', () => {
    openLog(path).error('it "broke"\nbadly', { project: 'p', cause: 'x' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      level: 'error',
      message: 'it "broke"\nbadly',
      project: 'p',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('starts a new file when it is full, and keeps one old file', () => {
    vi.useFakeTimers();
    const log = openLog(path);
    for (let i = 0; i < 120; i++) {
      vi.advanceTimersByTime(1000);
      log.info('x'.repeat(100_000));
    }
    expect(statSync(path).size).toBeLessThanOrEqual(SERVER_LIMITS.logBytes);
    expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(SERVER_LIMITS.logBytes);
  });

  it('limits the lines per second', () => {
    vi.useFakeTimers();
    const log = openLog(path);
    for (let i = 0; i < 10_000; i++) log.info('knock');
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(SERVER_LIMITS.logLinesPerSecond);
  });

  it('does not stop the daemon if it cannot be written', () => {
    expect(() => openLog(join(folder, 'nowhere', 'daemon.log')).info('x')).not.toThrow();
  });
});
