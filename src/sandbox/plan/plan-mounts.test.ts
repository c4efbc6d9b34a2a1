import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mount, SandboxPlan } from '../../protocol/sandbox.ts';
import { findPrograms } from './home-rules.ts';
import { DEBIAN, madeUpMachine, PATHS, PROJECT } from './made-up-machine.cases.ts';
import type { Machine } from './machine.ts';
import { comparePaths, isInside, joinPath, pathBelow } from './paths.ts';
import { type MountPlan, planMounts } from './plan-mounts.ts';
import type { SessionPaths } from './session-paths.ts';

/** What the session sees at a path: the outside path, or its replacement. */
function seen({ system, mounts }: MountPlan, path: string): string {
  const around = [...system, ...mounts].findLast(({ at }) => isInside(path, at));
  if (around === undefined) return 'absent';
  if (around.kind === 'link')
    return seen({ system, mounts } as MountPlan, joinPath(around.to, pathBelow(path, around.at)));
  if ('from' in around) return `${around.kind} ${joinPath(around.from, pathBelow(path, around.at))}`;
  return path === around.at ? around.kind : 'absent';
}

function planned(machine: Machine, paths: Partial<SessionPaths> = {}, plan: SandboxPlan = {}): MountPlan {
  const result = planMounts(machine, { ...PATHS, ...paths }, plan);
  if (!result.ok) throw new Error(result.problem.message);
  return result.value;
}

function refusal(machine: Machine, plan: SandboxPlan, paths: Partial<SessionPaths> = {}): string | undefined {
  const result = planMounts(machine, { ...PATHS, ...paths }, plan);
  return result.ok ? undefined : result.problem.message;
}

const W = PATHS.worktree;
const usual = (...more: readonly string[]): Machine => madeUpMachine([...DEBIAN, ...PROJECT, ...more]);

describe('the plan of an ordinary session', () => {
  const plan = planned(usual());

  it('is short', () => {
    expect(plan.system).toEqual([
      { kind: 'link', at: '/bin', to: '/usr/bin' },
      { kind: 'read', at: '/etc', from: '/etc' },
      { kind: 'read', at: '/opt', from: '/opt' },
      { kind: 'scratch', at: '/run' },
      {
        kind: 'read',
        at: '/run/systemd/resolve/stub-resolv.conf',
        from: '/run/systemd/resolve/stub-resolv.conf',
      },
      { kind: 'read', at: '/sys', from: '/sys' },
      { kind: 'read', at: '/usr', from: '/usr' },
      { kind: 'read', at: '/var', from: '/var' },
    ]);
    expect(plan.mounts).toEqual([
      { kind: 'write', at: '/home/ada', from: PATHS.home },
      { kind: 'write', at: W, from: W },
      { kind: 'write', at: `${W}/.baton`, from: `${W}/.baton` },
      { kind: 'write', at: `${W}/.baton/session`, from: `${W}/.baton/session` },
      { kind: 'scratch', at: '/run/user/1000' },
      { kind: 'write', at: '/tmp', from: PATHS.tmp },
      { kind: 'write', at: '/var/tmp', from: PATHS.tmp },
    ]);
  });

  it.each([
    ['/usr/bin/sh', 'read /usr/bin/sh'],
    ['/bin/sh', 'read /usr/bin/sh'],
    [`${W}/a`, `write ${W}/a`],
    ['/home/ada/x', `write ${PATHS.home}/x`],
    ['/home/ada/app/README.md', `write ${PATHS.home}/app/README.md`],
    ['/home/ada/.local/state/baton/key.pem', `write ${PATHS.home}/.local/state/baton/key.pem`],
    ['/home/bob', 'absent'],
    ['/mnt/c', 'absent'],
    ['/run/docker.sock', 'absent'],
  ])('shows %s as %s', (path, as) => {
    expect(seen(plan, path)).toBe(as);
  });

  it('sets HOME and the temporary folders', () => {
    expect(plan.env).toMatchObject({ HOME: '/home/ada', TMPDIR: '/tmp', XDG_RUNTIME_DIR: '/run/user/1000' });
  });

  it('names what is hidden, and not the state folder', () => {
    const all = planned(
      usual('/home/ada/notes/', '/home/ada/.config/gh/hosts.yml', '/home/ada/.config/unknown/'),
    ).hidden;
    expect(all.map(({ shown }) => shown).toSorted()).toEqual(
      [
        '.',
        '/mnt',
        '/run/docker.sock',
        '/var/run/docker.sock',
        '~/.config/gh',
        '~/.config/unknown',
        '~/.ssh',
        '~/app',
        '~/notes',
      ].toSorted(),
    );
  });
});

describe('HOME', () => {
  it('has the toolchains, read-only, and nothing else', () => {
    const plan = planned(usual('/home/ada/.nvm/', '/home/ada/.cargo/bin/', '/home/ada/.cargo/credentials.toml'));
    expect(seen(plan, '/home/ada/.nvm/x')).toBe('read /home/ada/.nvm/x');
    expect(seen(plan, '/home/ada/.cargo/bin/cargo')).toBe('read /home/ada/.cargo/bin/cargo');
    expect(seen(plan, '/home/ada/.cargo/credentials.toml')).toBe(`write ${PATHS.home}/.cargo/credentials.toml`);
  });

  it('has filtered copies of files with credentials', () => {
    const { copies, mounts } = planned(usual('/home/ada/.npmrc', '/home/ada/.gitconfig'));
    expect(copies).toEqual([
      { from: '/home/ada/.gitconfig', folder: PATHS.home, path: '.gitconfig', filter: 'git config' },
      { from: '/home/ada/.npmrc', folder: PATHS.home, path: '.npmrc', filter: 'npmrc' },
    ]);
    expect(mounts.filter(({ at }) => at.includes('npmrc'))).toEqual([]);
  });

  it('shows a link and its target under both names', () => {
    const plan = planned(
      usual(
        '/home/ada/.gitignore -> dotfiles/ignore',
        '/home/ada/dotfiles/ignore',
        '/home/ada/.nvm -> /mnt/c/nvm',
        '/mnt/c/nvm/',
      ),
    );
    expect(seen(plan, '/home/ada/.gitignore')).toBe('read /home/ada/dotfiles/ignore');
    expect(seen(plan, '/home/ada/dotfiles/ignore')).toBe('read /home/ada/dotfiles/ignore');
    expect(seen(plan, '/home/ada/dotfiles/other')).toBe(`write ${PATHS.home}/dotfiles/other`);
    expect(seen(plan, '/home/ada/.nvm/bin')).toBe('read /mnt/c/nvm/bin');
    expect(seen(plan, '/mnt/c/nvm/bin')).toBe('read /mnt/c/nvm/bin');
    expect(seen(plan, '/mnt/c/other')).toBe('absent');
  });

  it('shows the copy of a linked file under both names', () => {
    const plan = planned(usual('/home/ada/.npmrc -> dotfiles/npmrc', '/home/ada/dotfiles/npmrc'));
    expect(seen(plan, '/home/ada/dotfiles/npmrc')).toBe(`write ${PATHS.home}/.npmrc`);
  });

  it('may be a link', () => {
    const home = '/mnt/people/ada';
    const entries = [`${home} -> /data/ada`, '/data/ada/app/.worktrees/W-1/.baton/session/', '/data/ada/app/.git/'];
    const repository = `${home}/app`;
    const plan = planned(madeUpMachine([...DEBIAN, ...entries], { home }), {
      repository,
      worktrees: `${repository}/.worktrees`,
      worktree: `${repository}/.worktrees/W-1`,
      commonDir: `${repository}/.git`,
    });
    for (const name of [home, '/data/ada']) {
      expect(seen(plan, `${name}/x`)).toBe(`write ${PATHS.home}/x`);
      expect(seen(plan, `${name}/app/.worktrees/W-1/x`)).toBe('write /data/ada/app/.worktrees/W-1/x');
      expect(seen(plan, `${name}/app/README.md`)).toBe(`write ${PATHS.home}/app/README.md`);
    }
    expect(plan.env['HOME']).toBe(home);
  });

  it('moves if HOME is /', () => {
    const machine = madeUpMachine(
      [...DEBIAN, '/.ssh/id', '/.nvm/', '/.npmrc', '/app/.git/', '/app/.worktrees/W-1/.baton/session/'],
      { home: '/' },
    );
    const plan = planned(machine, {
      repository: '/app',
      worktrees: '/app/.worktrees',
      worktree: '/app/.worktrees/W-1',
      commonDir: '/app/.git',
      stateDir: '/.local/state/baton',
    });
    expect(plan.env['HOME']).toBe('/home/session');
    expect(seen(plan, '/home/session/x')).toBe(`write ${PATHS.home}/x`);
    expect(seen(plan, '/home/session/.nvm')).toBe('read /.nvm');
    for (const path of ['/.ssh', '/.npmrc', '/.nvm']) expect(seen(plan, path)).toBe('absent');
    expect(seen(plan, '/app/x')).toBe('absent');
  });

  it('may be /root', () => {
    const plan = planned(madeUpMachine([...DEBIAN, '!/root/.bashrc'], { home: '/root', uid: 0 }));
    expect(seen(plan, '/root/.bashrc')).toBe(`write ${PATHS.home}/.bashrc`);
    expect(plan.env['XDG_RUNTIME_DIR']).toBe('/run/user/1000');
  });
});

describe('places', () => {
  const elsewhere = (root: string): Partial<SessionPaths> => ({
    repository: `${root}/app`,
    worktrees: `${root}/app/.worktrees`,
    worktree: `${root}/app/.worktrees/W 1`,
    commonDir: `${root}/app/.git`,
    stateDir: `${root}/app/.state`,
    home: `${root}/app/.state/agents/1/home`,
    tmp: `${root}/app/.state/agents/1/tmp`,
    cache: { at: `${root}/app/.state/caches/app`, from: `${root}/app/.state/caches/app` },
  });
  const entries = (root: string): string[] =>
    [
      'app/README.md',
      'app/.git/config',
      'app/.worktrees/W 1/.baton/session/',
      'app/.worktrees/W-2/',
      'app/.state/key.pem',
      'app/.state/caches/app/',
    ].map((path) => `${root}/${path}`);

  it.each(['/srv', '/tmp/x', '/opt/a b', '/mnt/c', '/var/lib/baton', '/home/bob'])(
    'hides the repository and the state folder in %s',
    (root) => {
      const plan = planned(madeUpMachine([...DEBIAN, ...entries(root)]), elsewhere(root));
      for (const path of ['app/README.md', 'app/.git/config', 'app/.worktrees/W-2/x', 'app/.state/key.pem'])
        expect(seen(plan, `${root}/${path}`).replace(/^\w+ /, '')).not.toBe(`${root}/${path}`);
      expect(seen(plan, `${root}/app/.worktrees/W 1/x`)).toBe(`write ${root}/app/.worktrees/W 1/x`);
      expect(seen(plan, `${root}/app/.state/caches/app/npm`)).toBe(`write ${root}/app/.state/caches/app/npm`);
    },
  );

  it('may have the worktree as the repository itself', () => {
    const paths = { worktree: '/home/ada/app', commonDir: null };
    const plan = planned(usual('/home/ada/app/.baton/session/'), paths);
    expect(seen(plan, '/home/ada/app/README.md')).toBe('write /home/ada/app/README.md');
    expect(seen(plan, '/home/ada/app/.worktrees/W-2')).toBe('absent');
  });

  it('shows folders on PATH that would be hidden, but no folder around HOME or in the repository', () => {
    const more = [
      '/home/ada/tools/bin/',
      '/tmp/shim/',
      '/home/ada/app/node_modules/.bin/',
      '/run/user/1000/fnm/bin -> /home/ada/.fnm/v22/bin',
      '/home/ada/.fnm/v22/bin/',
    ];
    const path = [
      '/usr/bin',
      '/home/ada/tools/bin',
      '/tmp/shim',
      '/home/ada/app/node_modules/.bin',
      '/home/ada',
      '/home',
      'relative',
      '/run/user/1000/fnm/bin',
    ];
    const plan = planned(madeUpMachine([...DEBIAN, ...PROJECT, ...more], { path }));
    expect(seen(plan, '/home/ada/tools/bin/x')).toBe('read /home/ada/tools/bin/x');
    expect(seen(plan, '/tmp/shim/x')).toBe('read /tmp/shim/x');
    expect(seen(plan, '/home/ada/app/node_modules/.bin/x')).toMatch(PATHS.home);
    expect(seen(plan, '/home/ada/.bashrc')).toMatch(PATHS.home);
    expect(seen(plan, '/run/user/1000/fnm/bin/node')).toBe('read /home/ada/.fnm/v22/bin/node');
  });

  it('shows toolchains and certificates that the environment names', () => {
    const tools = ['/home/ada/jdk', '/home/ada/ca.pem', '/home/ada', '/nowhere'];
    const plan = planned(madeUpMachine([...DEBIAN, ...PROJECT, '/home/ada/jdk/', '/home/ada/ca.pem'], { tools }));
    expect(seen(plan, '/home/ada/jdk/bin/java')).toBe('read /home/ada/jdk/bin/java');
    expect(seen(plan, '/home/ada/ca.pem')).toBe('read /home/ada/ca.pem');
    expect(seen(plan, '/home/ada/.ssh')).toMatch(PATHS.home);
  });

  it('has files of Baton and linked folders read-only', () => {
    const files = [`${W}/.baton/session/settings.json`];
    const linked = ['/home/ada/app/node_modules'];
    const plan = planned(usual(...files, '/home/ada/app/node_modules/'), { files, linked });
    expect(seen(plan, `${W}/.baton/session/settings.json`)).toBe(`read ${W}/.baton/session/settings.json`);
    expect(seen(plan, '/home/ada/app/node_modules/a')).toBe('read /home/ada/app/node_modules/a');
  });

  it('refuses a session folder that was replaced by a link', () => {
    const machine = madeUpMachine([
      ...DEBIAN,
      '/srv/app/.worktrees/W/.baton/session -> /home/ada/.ssh',
      '/srv/app/.git/',
    ]);
    const paths = {
      repository: '/srv/app',
      worktree: '/srv/app/.worktrees/W',
      worktrees: '/srv/app/.worktrees',
      commonDir: null,
    };
    expect(refusal(machine, {}, paths)).toMatch(/session is a link/);
  });

  it('refuses a mount point that cannot be made', () => {
    const machine = madeUpMachine(DEBIAN, { home: '/opt/nobody' });
    expect(refusal(machine, {})).toMatch('/opt/nobody does not exist, and cannot be made inside of /opt');
    // Sessions of another user have no mounts.
    expect(planMounts(machine, PATHS, {}, { needsMountPoints: false })).toMatchObject({ ok: true });
  });
});

describe('a runbook', () => {
  it('shows paths of every form, and notes those that do not exist', () => {
    const machine = usual('/home/ada/data/', '/mnt/c/data/', '/home/ada/app/fixtures/');
    const plan = planned(machine, {}, { read: ['~/data/', 'fixtures', '~/missing'], write: ['/mnt/c/data'] });
    expect(seen(plan, '/home/ada/data/x')).toBe('read /home/ada/data/x');
    expect(seen(plan, '/home/ada/app/fixtures/x')).toBe('read /home/ada/app/fixtures/x');
    expect(seen(plan, '/mnt/c/data/x')).toBe('write /mnt/c/data/x');
    expect(plan.notes).toEqual(['sandbox.read: ~/missing does not exist.']);
  });

  it('shows a credential only if it is listed itself', () => {
    const machine = usual('/home/ada/.config/gh/hosts.yml', '/home/ada/.config/x');
    expect(seen(planned(machine, {}, { read: ['~/.config'] }), '/home/ada/.config/gh')).toBe('empty');
    expect(seen(planned(machine, {}, { read: ['~/.config'] }), '/home/ada/.config/x')).toBe('read /home/ada/.config/x');
    const listed = planned(machine, {}, { read: ['~/.config', '~/.config/gh'] });
    expect(seen(listed, '/home/ada/.config/gh/hosts.yml')).toBe('read /home/ada/.config/gh/hosts.yml');
    expect(seen(planned(machine, {}, { read: ['~/.ssh'] }), '/home/ada/.ssh/id_ed25519')).toBe(
      'read /home/ada/.ssh/id_ed25519',
    );
  });

  it('hides listed paths, whatever else allows them', () => {
    const machine = usual('/home/ada/.nvm/versions/', '/opt/secret/', `${W}/private/`, '/home/ada/.config/mise/');
    const plan = planned(
      machine,
      {},
      { read: ['/opt/secret', '~/.nvm'], hide: ['/opt/secret', '~/.nvm/versions', 'private', '~/.config'] },
    );
    expect(seen(plan, '/opt/secret')).toBe('empty');
    expect(seen(plan, '/home/ada/.nvm/versions')).toBe('empty');
    expect(seen(plan, '/home/ada/.nvm/x')).toBe('read /home/ada/.nvm/x');
    expect(seen(plan, `${W}/private`)).toBe('empty');
    expect(seen(plan, '/home/ada/.config/mise')).toBe(`write ${PATHS.home}/.config/mise`);
  });

  it('cannot hide the worktree', () => {
    const plan = planned(usual(), {}, { hide: ['~/app', W] });
    expect(seen(plan, `${W}/x`)).toBe(`write ${W}/x`);
  });

  it('cannot allow the state folder, the git directory, programs, HOME or /', () => {
    const machine = usual('/home/ada/node/bin/node', '/home/ada/state -> .local/state/baton');
    const programs = { programs: ['/home/ada/node'] };
    expect(refusal(machine, { write: ['~/.local/state/baton'] })).toMatch('no session may see the state folder');
    expect(refusal(machine, { read: ['~/.local/state/baton/key.pem'] })).toMatch('no session may see the state folder');
    expect(refusal(machine, { read: ['~/state'] })).toMatch('no session may see the state folder');
    expect(refusal(machine, { read: ['.git'] })).toMatch('a git directory of its own');
    expect(refusal(machine, { write: ['.git/lfs'] })).toMatch('no session may write the git directory');
    expect(refusal(machine, { write: ['~/node/bin'] }, programs)).toMatch('no session may write the programs');
    expect(refusal(machine, { read: ['~'] })).toMatch('private to each session');
    expect(refusal(machine, { write: ['/'] })).toMatch('private to each session');
    expect(refusal(machine, { read: ['.git/lfs'] })).toBeUndefined();
  });

  it('keeps them closed inside a folder that it allows', () => {
    const plan = planned(
      usual('/home/ada/node/bin/node'),
      { programs: ['/home/ada/node'] },
      { write: ['.', '~/.local', '/home'] },
    );
    expect(seen(plan, '/home/ada/app/README.md')).toBe('write /home/ada/app/README.md');
    expect(seen(plan, '/home/ada/app/.git')).toBe('empty');
    expect(seen(plan, '/home/ada/app/.worktrees/W-2/x')).toBe('absent');
    expect(seen(plan, '/home/ada/.local/state/baton/key.pem')).toBe('absent');
    expect(seen(plan, '/home/ada/.ssh')).toBe(`write ${PATHS.home}/.ssh`);
    expect(seen(plan, '/home/ada/node/bin/node')).toBe('read /home/ada/node/bin/node');
  });
});

describe('as root', () => {
  const privatePaths = ['/etc/shadow', '/etc/ssl/private', '/var/lib/private'];
  const machine = madeUpMachine(
    [
      ...DEBIAN,
      '/etc/shadow',
      '/etc/ssl/private/',
      '/etc/ssl/certs/',
      '!/data/',
      '/var/lib/private/',
      '/sys/kernel/debug/',
    ],
    { uid: 0, home: '/root', privatePaths },
  );

  it('hides what other users cannot read', () => {
    const plan = planned(machine);
    expect(seen(plan, '/etc/shadow')).toBe('masked');
    expect(seen(plan, '/etc/ssl/private')).toBe('empty');
    expect(seen(plan, '/etc/ssl/certs')).toBe('read /etc/ssl/certs');
    expect(seen(plan, '/data')).toBe('absent');
    expect(seen(plan, '/var/lib/private')).toBe('empty');
    expect(seen(plan, '/sys/kernel/debug')).toBe('empty');
  });

  it('leaves them to their modes otherwise', () => {
    const plan = planned({ ...machine, uid: 1000, privatePaths: [] });
    expect(seen(plan, '/etc/shadow')).toBe('read /etc/shadow');
    expect(seen(plan, '/data')).toBe('read /data');
  });
});

describe('sockets', () => {
  it('covers those that listen in folders of the system', () => {
    const sockets = ['/opt/agent/agent.sock', `${W}/dev.sock`, '/run/docker.sock', '/srv/gone.sock'];
    const machine = madeUpMachine([...DEBIAN, ...PROJECT, '=/opt/agent/agent.sock', `=${W}/dev.sock`], { sockets });
    const plan = planned(machine);
    expect(seen(plan, '/opt/agent/agent.sock')).toBe('masked');
    expect(seen(plan, `${W}/dev.sock`)).toBe(`write ${W}/dev.sock`);
  });
});

describe('findPrograms', () => {
  const more = [
    '/home/ada/.local/bin/claude -> ../lib/node_modules/claude/cli.js',
    '/home/ada/.local/lib/node_modules/claude/cli.js',
    '/home/ada/node/bin/node',
    '/home/ada/node/include/node/',
    '/home/ada/bin/node',
    '/home/ada/include/node/',
    '/home/ada/baton/dist/',
  ];
  const machine = madeUpMachine([...DEBIAN, ...PROJECT, ...more], { path: ['/usr/bin', '/home/ada/.local/bin'] });
  const find = (...programs: readonly string[]): string[] => findPrograms(machine, programs, [PATHS.repository]);

  it('finds a client on PATH, with its package', () => {
    expect(find('claude')).toEqual(['/home/ada/.local/bin/claude', '/home/ada/.local/lib/node_modules']);
    expect(find('missing', '/missing')).toEqual([]);
  });

  it('finds Node with its folder, unless that is HOME', () => {
    expect(find('/home/ada/node/bin/node')).toEqual(['/home/ada/node/bin/node', '/home/ada/node']);
    expect(find('/home/ada/bin/node')).toEqual(['/home/ada/bin/node']);
  });

  it('leaves out folders around the repository', () => {
    expect(find('/home/ada/baton', '/home/ada', '/home/ada/app')).toEqual(['/home/ada/baton']);
  });
});

describe('any plan', () => {
  const folder = fc.constantFrom('/srv', '/home/ada', '/tmp', '/opt', '/mnt/c', '/home/ada/work', '/var/lib');
  const name = fc.constantFrom('app', 'state', 'x y');
  const listed = fc.array(
    fc.constantFrom(
      '~/.ssh',
      '/opt',
      '/srv',
      '/tmp',
      '/home',
      '~/work',
      '.',
      'sub',
      '/var',
      '~/.config',
      '/usr',
      '/mnt',
    ),
    { maxLength: 3 },
  );

  it('hides the state folder, shows the worktree, orders folders first and has each place once', () => {
    fc.assert(
      fc.property(
        folder,
        name,
        folder,
        listed,
        listed,
        listed,
        fc.constantFrom(0, 1000),
        (at, called, stateAt, read, write, hide, uid) => {
          const repository = `${at}/${called}`;
          const stateDir = `${stateAt}/.baton-state`;
          const worktree = `${repository}/.worktrees/W`;
          const paths = {
            ...PATHS,
            repository,
            stateDir,
            worktree,
            worktrees: `${repository}/.worktrees`,
            commonDir: `${repository}/.git`,
            home: `${stateDir}/home`,
            tmp: `${stateDir}/tmp`,
          };
          const entries = [
            `${repository}/.git/config`,
            `${worktree}/.baton/session/`,
            `${worktree}/sub/`,
            `${stateDir}/key.pem`,
            `${stateDir}/home/`,
            `${stateDir}/tmp/`,
            '/home/ada/.config/gh/',
          ];
          const result = planMounts(madeUpMachine([...DEBIAN, ...entries], { uid }), paths, { read, write, hide });
          expect([undefined, 'sandbox/path-not-allowed']).toContain(result.ok ? undefined : result.problem.code);
          fc.pre(result.ok);
          const plan = result.value;
          expect(seen(plan, `${stateDir}/key.pem`)).not.toMatch(new RegExp(`^\\w+ ${stateDir}/key.pem$`));
          expect(seen(plan, `${repository}/.git/config`)).not.toMatch(new RegExp(`^\\w+ ${repository}/.git`));
          expect(seen(plan, `${worktree}/a`)).toBe(`write ${worktree}/a`);
          for (const mounts of [plan.system, plan.mounts]) {
            const at = mounts.map((mount: Mount) => mount.at);
            expect(at).toEqual([...new Set(at)].sort(comparePaths));
          }
        },
      ),
    );
  });
});

describe('the rules in force', () => {
  const machine = madeUpMachine([
    ...DEBIAN,
    ...PROJECT,
    '/home/ada/app/baton.toml',
    '/home/ada/app/.baton/session/',
    '/home/ada/app/.baton/runbooks/more.toml',
  ]);
  const inForce = ['baton.toml', '.baton', 'prompts/absent.md'].map((path) => `/home/ada/app/${path}`);
  const plan = (worktree: string, sandbox: SandboxPlan = {}) => {
    const planned = planMounts(machine, { ...PATHS, worktree, inForce }, sandbox);
    if (!planned.ok) throw new Error(planned.problem.message);
    const at = (path: string) => planned.value.mounts.find((mount) => mount.at === path)?.kind;
    const readOnly = planned.value.hidden.filter(({ isReadOnly }) => isReadOnly).map(({ shown }) => shown);
    return { at, readOnly };
  };

  it('are read-only for a session in the main checkout, with its own folder in them writable', () => {
    const { at, readOnly } = plan('/home/ada/app');
    expect([at('/home/ada/app'), at('/home/ada/app/baton.toml'), at('/home/ada/app/.baton')]).toEqual([
      'write',
      'read',
      'read',
    ]);
    expect(at('/home/ada/app/.baton/session')).toBe('write');
    expect(readOnly).toEqual(['baton.toml', '.baton']);
  });

  it('are read-only where a runbook shows the main checkout for writing, or one of them', () => {
    for (const write of ['.', 'baton.toml', '/home/ada/app']) {
      const { at } = plan(PATHS.worktree, { write: [write] });
      expect([write, at('/home/ada/app/baton.toml')]).toEqual([write, 'read']);
    }
  });

  it('are not shown to a session of a task, whose own copy is a proposal', () => {
    const { at, readOnly } = plan(PATHS.worktree);
    expect(at('/home/ada/app/baton.toml')).toBeUndefined();
    expect(readOnly).toEqual([]);
  });
});
