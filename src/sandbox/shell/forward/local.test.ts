import { describe, expect, it } from 'vitest';
import { placeOf } from './local.ts';

const SETTINGS = {
  socket: '/s',
  real: {},
  commands: ['node hook.cjs 1', 'get-key'],
  baton: '/bin/baton',
  launcher: '/usr/local/bin/client',
  nonce: 'n0nce',
};

describe('the place of a shell', () => {
  it.each([
    ['-c', 'node hook.cjs 1'],
    ['-lc', 'node hook.cjs 1'],
    ['-l', '-c', 'get-key'],
  ])("is beside the client for the client's own commands: %j %j", (...args) => {
    expect(placeOf(args, undefined, SETTINGS)).toBe('own command');
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
    [['./run-tests']],
  ])('is the second sandbox for everything else: %j', (args) => {
    expect(placeOf(args, undefined, SETTINGS)).toBe('second sandbox');
  });

  it('is beside the client for the shells of an own command, which a mark identifies', () => {
    expect(placeOf(['-c', 'make'], 'n0nce', SETTINGS)).toBe('own command');
    expect(placeOf(['-c', 'make'], '1', SETTINGS)).toBe('second sandbox');
  });

  it('is the first sandbox for the script that starts the client, and for `baton`, without the mark', () => {
    expect(placeOf(['/usr/local/bin/client', '--json'], undefined, SETTINGS)).toBe('client');
    expect(placeOf(['/bin/baton', 'mcp'], undefined, SETTINGS)).toBe('client');
  });
});
