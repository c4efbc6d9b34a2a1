import { describe, expect, it } from 'vitest';
import { type ProfileRequest, renderProfile } from './profile.ts';

const REQUEST: ProfileRequest = {
  mounts: [
    { kind: 'read', at: '/Users/ada/.nvm', from: '/Users/ada/.nvm' },
    { kind: 'write', at: '/Users/ada', from: '/Users/ada/Library/baton/home' },
    { kind: 'write', at: '/Users/ada/app/.worktrees/W 1', from: '/Users/ada/app/.worktrees/W 1' },
    {
      kind: 'read',
      at: '/Users/ada/app/.worktrees/W 1/.baton/task.md',
      from: '/Users/ada/app/.worktrees/W 1/.baton/task.md',
    },
    { kind: 'empty', at: '/Users/ada/.nvm/private' },
    { kind: 'link', at: '/bin', to: '/usr/bin' },
  ],
  closed: ['/Users/ada', '/Users/ada/say "hi"'],
  network: { policy: 'full', local: [] },
  ports: [],
  sockets: [],
};

describe('renderProfile', () => {
  const lines = renderProfile(REQUEST).split('\n');
  const at = (line: string): number => lines.indexOf(line);

  it('denies writes, and reads of HOME, before it allows what the plan shows', () => {
    expect(lines[0]).toBe('(version 1)');
    expect(at('(deny file-write*)')).toBeGreaterThan(at('(allow default)'));
    expect(at('(deny file-read* (subpath "/Users/ada"))')).toBeGreaterThan(0);
    expect(at('(allow file-read* (subpath "/Users/ada/.nvm"))')).toBeGreaterThan(
      at('(deny file-read* (subpath "/Users/ada"))'),
    );
  });

  it('keeps the order of the mounts, since the last rule counts', () => {
    const worktree = at('(allow file-read* file-write* (subpath "/Users/ada/app/.worktrees/W 1"))');
    expect(worktree).toBeGreaterThan(0);
    expect(at('(deny file-write* (subpath "/Users/ada/app/.worktrees/W 1/.baton/task.md"))')).toBeGreaterThan(worktree);
    expect(at('(deny file-read* file-write* (subpath "/Users/ada/.nvm/private"))')).toBeGreaterThan(worktree);
  });

  it('allows paths in place, since nothing is mounted', () => {
    expect(lines).toContain('(allow file-read* file-write* (subpath "/Users/ada/Library/baton/home"))');
    expect(lines.filter((line) => line.includes('/usr/bin'))).toEqual([]);
  });

  it('quotes paths', () => {
    expect(lines).toContain(String.raw`(deny file-read* (subpath "/Users/ada/say \"hi\""))`);
  });

  it('has balanced brackets', () => {
    const text = renderProfile(REQUEST).replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
    expect(text.split('(').length).toBe(text.split(')').length);
  });

  it.each([
    ['full', [], '(deny network-outbound (remote ip "localhost:*") (remote unix-socket))', undefined],
    [
      'full',
      [5432],
      '(deny network-outbound (remote ip "localhost:*") (remote unix-socket))',
      '(allow network-outbound (remote ip "localhost:5432"))',
    ],
    ['none', [], '(deny network*)', undefined],
    ['proxy', [], '(deny network*)', undefined],
  ] as const)('limits the network: %s with %j', (policy, local, denied, allowed) => {
    const profile = renderProfile({ ...REQUEST, network: { policy, local } });
    expect(profile).toContain(denied);
    expect(profile.split('\n').find((line) => line.startsWith('(allow network'))).toBe(allowed);
  });

  it('reaches the proxy and the supervisor only', () => {
    const profile = renderProfile({
      ...REQUEST,
      network: { policy: 'proxy', local: [] },
      ports: [3128],
      sockets: ['/tmp/s.sock'],
    });
    expect(profile).toContain(
      '(allow network-outbound (remote ip "localhost:3128") (remote unix-socket (path-literal "/tmp/s.sock")))',
    );
  });
});
