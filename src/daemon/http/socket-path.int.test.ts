import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeSocketPath, removeSocketFolder } from './connections.ts';

it('puts the socket where its path is short enough, even if TMPDIR is long', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-socket-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const long = join(folder, 'x'.repeat(100));
  mkdirSync(long);
  vi.stubEnv('TMPDIR', long);
  onTestFinished(() => void vi.unstubAllEnvs());
  const socket = makeSocketPath(join(long, 'state'));
  expect(socket).toMatch(/^\/tmp\/baton-\w{6}\/s$/);
  removeSocketFolder(socket);
  expect(existsSync(dirname(socket))).toBe(false);
});
