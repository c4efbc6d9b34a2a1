import { describe, expect, it } from 'vitest';
import type { Mount } from '../../protocol/sandbox.ts';
import { bubblewrapArgv, type BubblewrapRequest } from './argv.ts';
import { groupInside, passwdInside } from './users.ts';

const MOUNTS: readonly Mount[] = [
  { kind: 'write', at: '/home/ada', from: '/state/home' },
  { kind: 'empty', at: '/home/ada/app' },
  { kind: 'write', at: '/home/ada/app/W 1', from: '/home/ada/app/W 1' },
  { kind: 'masked', at: '/home/ada/app/W 1/secret' },
];

const REQUEST: BubblewrapRequest = {
  spec: {
    system: [
      { kind: 'read', at: '/usr', from: '/usr' },
      { kind: 'link', at: '/bin', to: '/usr/bin' },
      { kind: 'scratch', at: '/run' },
    ],
    mounts: MOUNTS,
    nested: false,
    limits: { processes: 10, memory_bytes: 4096, disk_bytes: 10 },
  },
  bwrap: { path: '/usr/bin/bwrap', version: '0.8.0' },
  argv: ['node', '--version'],
  cwd: '/home/ada/app/W 1',
  enter: [],
  unsharesNet: false,
  isTerminal: false,
  folder: '/state/bwrap',
  seccomp: new Uint8Array([1]),
  replaced: [],
  proc: { folders: [], files: [], readOnly: [] },
  procs: [],
  prlimit: [],
  uid: 1000,
  gid: 100,
};

function optionsOf(request: Partial<BubblewrapRequest>): string {
  const { files } = bubblewrapArgv({ ...REQUEST, ...request });
  const args = files.find(({ path }) => path.endsWith('bwrap.args'))?.content;
  return String(args).replaceAll('\0', ' ');
}

describe('bubblewrapArgv', () => {
  it('is a shell that opens the files and becomes bubblewrap', () => {
    const { argv, files } = bubblewrapArgv({ ...REQUEST, prlimit: ['prlimit', '--core=0', '--'] });
    expect(argv.slice(0, 2)).toEqual(['/bin/sh', '-c']);
    expect(argv.slice(3)).toEqual([
      'sh',
      '/state/bwrap/bwrap.args',
      '/state/bwrap/seccomp.bpf',
      '--',
      '/usr/bin/bwrap',
      '--args',
      '3',
      '--',
      'prlimit',
      '--core=0',
      '--',
      'node',
      '--version',
    ]);
    expect(files.map(({ path }) => path)).toEqual([
      '/state/bwrap/bwrap.args',
      '/state/bwrap/empty',
      '/state/bwrap/seccomp.bpf',
    ]);
  });

  it('joins the control groups before it enters the network namespace', () => {
    const { argv } = bubblewrapArgv({ ...REQUEST, procs: ['/cg/cgroup.procs'], enter: ['nsenter', '--net=/x'] });
    expect(argv.slice(3, 8)).toEqual(['sh', '/cg/cgroup.procs', '--', 'nsenter', '--net=/x']);
  });

  it('closes emptied folders after the mounts below them', () => {
    const options = optionsOf({});
    expect(options).toContain(
      '--bind /state/home /home/ada --tmpfs /home/ada/app --bind /home/ada/app/W 1 /home/ada/app/W 1',
    );
    expect(options).toMatch(
      /--ro-bind \/state\/bwrap\/empty \/home\/ada\/app\/W 1\/secret --remount-ro \/home\/ada\/app --remount-ro \//,
    );
    expect(options).toContain('--symlink /usr/bin /bin');
    expect(options).toContain('--perms 0755 --size 1024 --tmpfs /run');
  });

  it('does not close emptied folders with nothing in them', () => {
    const options = optionsOf({ spec: { ...REQUEST.spec, mounts: [{ kind: 'empty', at: '/opt/x' }] } });
    expect(options).toContain('--perms 0555 --size 4096 --tmpfs /opt/x');
    expect(options).not.toContain('--remount-ro /opt/x');
  });

  it('has options that depend on the session', () => {
    expect(optionsOf({})).toContain('--disable-userns --die-with-parent --new-session');
    expect(optionsOf({ isTerminal: true })).not.toContain('--new-session');
    expect(optionsOf({ unsharesNet: true })).toContain('--unshare-net');
    expect(optionsOf({ spec: { ...REQUEST.spec, nested: true } })).not.toContain('--disable-userns');
    expect(optionsOf({ seccomp: undefined })).not.toContain('--seccomp');
    expect(optionsOf({ uid: 0 })).toContain('--uid 1000 --gid 1000');
    expect(optionsOf({ uid: 1000 })).toContain('--uid 1000 --gid 100');
  });

  it('leaves out options that an older bubblewrap lacks', () => {
    const old = optionsOf({ bwrap: { path: 'bwrap', version: '0.6.1' } });
    expect(old).not.toContain('--size');
    expect(old).not.toContain('--disable-userns');
  });

  it('lets a session use a device only if a runbook allows it to write', () => {
    const at = (kind: 'read' | 'write', path: string): string =>
      optionsOf({ spec: { ...REQUEST.spec, mounts: [{ kind, at: path, from: path }] } });
    expect(at('write', '/dev/kvm')).toContain('--dev-bind /dev/kvm /dev/kvm');
    expect(at('read', '/dev/kvm')).toContain('--ro-bind-try /dev/kvm /dev/kvm');
    expect(at('write', '/dev/shm/x')).toContain('--bind /dev/shm/x /dev/shm/x');
  });

  it('shows a folder of PATH in /dev/shm after the empty /dev/shm is mounted', () => {
    const system = ['/opt/bin', '/dev/shm/bin'].map((path) => ({ kind: 'read', at: path, from: path }) as const);
    const options = optionsOf({ spec: { ...REQUEST.spec, system } });
    const places = ['/opt/bin /opt/bin', '--tmpfs /dev/shm', '/dev/shm/bin /dev/shm/bin'];
    const found = places.map((words) => options.indexOf(words));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found).not.toContain(-1);
  });
});

describe('the users of a sandbox', () => {
  const users = 'root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n';

  it('are those of the machine for a user of the machine', () => {
    expect(passwdInside(users, 1000, '/home/ada')).toBeUndefined();
    expect(groupInside('ada:x:1000:\n', 1000)).toBeUndefined();
  });

  it('have another one for root, and for a user of a directory service', () => {
    expect(passwdInside(users, 0, '/root')).toBe(
      'root:x:0:0:root:/root:/bin/sh\nbaton:x:1000:1000:Baton session:/root:/bin/sh\n',
    );
    expect(passwdInside(users, 70001, '/home/eve')).toMatch(
      /ada:.*\nbaton:x:70001:70001:Baton session:\/home\/eve:\/bin\/sh\n$/s,
    );
    expect(groupInside('root:x:0:\n', 0)).toBe('root:x:0:\nbaton:x:1000:\n');
  });
});
