import { describe, expect, it } from 'vitest';
import { chooseMode } from './choose-mode.ts';
import { type BubblewrapFailure, explainBubblewrap } from './explain-bubblewrap.ts';
import type { Probe } from './probe.ts';

const NO = { works: false, reason: 'it is not installed', fix: 'Install it: apt-get install x' } as const;
const NOTHING: Probe = { bubblewrap: NO, container: NO, user: NO, 'sandbox-exec': NO };
const YES = { works: true } as const;
const BWRAP = { works: true, path: '/usr/bin/bwrap', version: '0.8.0' } as const;

describe('auto', () => {
  it('takes the strongest mode that works', () => {
    const all: Probe = { bubblewrap: BWRAP, container: YES, user: YES, 'sandbox-exec': YES };
    expect(chooseMode('auto', all, true)).toEqual({ ok: true, kind: 'bubblewrap', notes: [] });
    expect(chooseMode('auto', { ...all, bubblewrap: NO }, true)).toMatchObject({ kind: 'container' });
    expect(chooseMode('auto', { ...all, bubblewrap: NO }, false)).toMatchObject({ kind: 'user' });
    expect(chooseMode('auto', { ...NOTHING, 'sandbox-exec': YES }, true)).toMatchObject({ kind: 'none' });
  });

  it('explains in one line why it took a weaker one, and what to install', () => {
    expect(chooseMode('auto', NOTHING, true)).toEqual({
      ok: true,
      kind: 'none',
      notes: ['No sandbox: it is not installed. Install it: apt-get install x'],
    });
  });
});

describe('a named mode', () => {
  it('works or refuses, with the reason and the fix', () => {
    expect(chooseMode('bubblewrap', NOTHING, true)).toMatchObject({
      ok: false,
      problem: {
        code: 'sandbox/unavailable',
        message: 'sandbox = "bubblewrap" does not work here: it is not installed',
        hint: 'Install it: apt-get install x',
      },
    });
    expect(chooseMode('user', { ...NOTHING, user: YES }, true)).toEqual({ ok: true, kind: 'user', notes: [] });
    expect(chooseMode('none', NOTHING, false)).toEqual({ ok: true, kind: 'none', notes: [] });
    expect(chooseMode('container', { ...NOTHING, container: YES }, false)).toMatchObject({
      problem: { message: expect.stringContaining('the project names no image') },
    });
  });
});

describe('explainBubblewrap', () => {
  const failure: BubblewrapFailure = {
    stderr: 'bwrap: Creating new namespace failed: Operation not permitted\n',
    platform: 'linux',
    sysctl: () => undefined,
    isContainer: false,
    isRoot: false,
    osRelease: 'NAME="Fedora"\nID=fedora\nID_LIKE="rhel centos"\n',
  };
  const set = (name: string, value: string) => (asked: string) => (asked === name ? value : undefined);

  it.each([
    [{ stderr: undefined }, /not installed/, /: sudo dnf install bubblewrap/],
    [{ stderr: undefined, isRoot: true }, /not installed/, /: dnf install bubblewrap/],
    [{ sysctl: set('user.max_user_namespaces', '0'), isRoot: true }, /no user namespaces/, /: sysctl -w/],
    [{ stderr: undefined, osRelease: 'ID_LIKE=debian\n' }, /not installed/, /apt-get install bubblewrap/],
    [{ stderr: undefined, osRelease: '' }, /not installed/, /apt-get install bubblewrap/],
    [{ platform: 'darwin' }, /needs Linux/, /container/],
    [{ sysctl: set('kernel.unprivileged_userns_clone', '0') }, /only to root/, /unprivileged_userns_clone=1/],
    [{ sysctl: set('user.max_user_namespaces', '0') }, /no user namespaces/, /max_user_namespaces=15000/],
    [{ sysctl: set('kernel.apparmor_restrict_unprivileged_userns', '1') }, /AppArmor/, /apparmor_parser/],
    [{ isContainer: true }, /this container allows no sandbox.*not permitted/, /seccomp=unconfined/],
    [{}, /bubblewrap failed: bwrap: Creating new namespace failed/, /bwrap --unshare-user/],
  ])('%j', (differs, reason, fix) => {
    const answer = explainBubblewrap({ ...failure, ...differs });
    expect(answer.reason).toMatch(reason);
    expect(answer.fix).toMatch(fix);
  });
});
