import { describe, expect, it } from 'vitest';
import { isLocal } from './local.ts';

const SETTINGS = {
  socket: '/s',
  real: {},
  commands: ['node hook.cjs 1', 'get-key'],
  scripts: [['/bin/baton']],
  nonce: 'n0nce',
};

describe('a command that runs beside the client', () => {
  it.each([
    ['-c', 'node hook.cjs 1'],
    ['-lc', 'node hook.cjs 1'],
    ['-l', '-c', 'get-key'],
    ['/bin/baton', 'mcp'],
  ])('is one of its own: %j %j', (...args) => {
    expect(isLocal(args, undefined, SETTINGS)).toBe(true);
  });

  it.each([
    [[]],
    [['-c']],
    [['node hook.cjs 1']],
    [['-c', 'node hook.cjs 1; make']],
    [['-c', 'node hook.cjs 12']],
    [['-c', 'node hook.cjs 1', 'more']],
    [['-c', 'make', '-c', 'node hook.cjs 1']],
    [['--rcfile', 'evil', '-c', 'node hook.cjs 1']],
    [['-e', '/bin/baton']],
    [['/bin/baton2']],
  ])('is compared as a whole: %j', (args) => {
    expect(isLocal(args, undefined, SETTINGS)).toBe(false);
  });

  it('has shells of its own, which a mark identifies', () => {
    expect(isLocal(['-c', 'make'], 'n0nce', SETTINGS)).toBe(true);
    expect(isLocal(['-c', 'make'], '1', SETTINGS)).toBe(false);
  });
});
