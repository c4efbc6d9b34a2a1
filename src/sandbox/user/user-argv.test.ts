import { describe, expect, it } from 'vitest';
import { specWith } from '../container/container.cases.ts';
import { homeLinks } from './home-links.ts';
import { userArgv } from './user-argv.ts';

const USER = { name: 'baton-agent', uid: 999, gid: 995 };
const REQUEST = { spec: specWith([]), user: USER, argv: ['claude'], network: 'host' } as const;

describe('the command line of another user', () => {
  it('drops all rights of root', () => {
    const network = { path: '/proc/7/fd/8' };
    expect(userArgv({ ...REQUEST, network, env: { TOKEN: 'secret' }, asRoot: true }).join(' ')).toBe(
      [
        'nsenter --net=/proc/7/fd/8 -- setpriv --reuid 999 --regid 995 --clear-groups --no-new-privs --inh-caps=-all',
        '--bounding-set=-all -- /bin/sh -c umask 0007 && exec "$@" sh prlimit --nproc=64:64 --fsize=8388608:8388608',
        '--core=0:0 -- claude',
      ].join(' '),
    );
  });

  it('passes variables through sudo by their names', () => {
    const env = { TOKEN: 'secret', HOME: '/h', PATH: '/p', gone: undefined, 'a b': 'c' };
    expect(userArgv({ ...REQUEST, env, asRoot: false }).join(' ')).toBe(
      [
        'sudo -n -u baton-agent --preserve-env=TOKEN /usr/local/libexec/baton-as-agent prlimit --nproc=64:64',
        '--fsize=8388608:8388608 --core=0:0 -- env SHELL=/bin/sh HOME=/h PATH=/p claude',
      ].join(' '),
    );
  });
});

describe('the HOME of another user', () => {
  it('has a link for each path that the session may use', () => {
    expect(
      homeLinks(
        [
          { kind: 'read', at: '/home/me/.covered/x', from: '/1' },
          { kind: 'scratch', at: '/home/me/.covered' },
          { kind: 'write', at: '/home/me/.claude', from: '/copy/claude' },
          { kind: 'read', at: '/home/me/.claude/below', from: '/2' },
          { kind: 'read', at: '/home/me/.nvm', from: '/home/me/.nvm' },
          { kind: 'empty', at: '/home/me/.ssh' },
          { kind: 'masked', at: '/home/me/.netrc' },
          { kind: 'link', at: '/home/me/.l', to: '.nvm' },
          { kind: 'read', at: '/home/men', from: '/3' },
        ],
        '/home/me',
      ),
    ).toEqual([
      { path: '.covered', link: null },
      { path: '.claude', link: '/copy/claude' },
      { path: '.nvm', link: '/home/me/.nvm' },
      { path: '.l', link: '.nvm' },
    ]);
  });
});
