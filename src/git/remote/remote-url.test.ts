import { describe, expect, it } from 'vitest';
import { checkRemoteUrl, hideCredentials, recordableRemote } from './remote-url.ts';

describe('the address of a remote', () => {
  it.each([
    'https://example.org/team/project.git',
    'http://example.org:8080/p',
    'ssh://git@example.org:2222/p.git',
    'git://example.org/p',
    'file:///srv/git/p.git',
    'git@example.org:team/p.git',
    'example.org:p.git',
    '/srv/git/p with spaces.git',
  ])('is accepted: %s', (url) => {
    expect(checkRemoteUrl(url)).toEqual({ ok: true, value: url });
  });

  it.each([
    'ext::sh -c touch% /tmp/x',
    'ext::/bin/sh',
    'transport::address',
    '--upload-pack=touch',
    '-oProxyCommand=x',
    'ssh://-oProxyCommand=x/p',
    '-x@host:path',
    'host:-path',
    'origin',
    '../p.git',
    'ftp://example.org/p',
    'https://example.org/p\next::x',
    '',
  ])('is refused: %s', (url) => {
    expect(checkRemoteUrl(url)).toMatchObject({ ok: false, problem: { code: 'git/bad-remote' } });
  });

  it('is shown and recorded without a password', () => {
    expect(hideCredentials("fatal: unable to access 'https://ada:secret@example.org/p/': no")).toBe(
      "fatal: unable to access 'https://example.org/p/': no",
    );
    expect(hideCredentials('https://token@example.org/p and http://a:b@c/d')).toBe(
      'https://example.org/p and http://c/d',
    );
    expect(recordableRemote('https://token@example.org/p')).toEqual({ ok: true, value: 'https://example.org/p' });
    expect(recordableRemote('ssh://git:secret@example.org/p')).toEqual({ ok: true, value: 'ssh://git@example.org/p' });
    expect(recordableRemote('git@example.org:p')).toEqual({ ok: true, value: 'git@example.org:p' });
    expect(recordableRemote('origin')).toMatchObject({ ok: false });
  });
});
