import { describe, expect, it } from 'vitest';
import type { ContainerEngine, Mount } from '../../protocol/sandbox.ts';
import { containerArgv, type ContainerRequest } from './container-argv.ts';
import { specWith } from './container.cases.ts';
import { engineEnvironment } from './engine-environment.ts';
import { mountArgs, visibleMounts } from './mount-args.ts';
import { tightenSeccomp } from './tighten-seccomp.ts';

describe('the command line of a container', () => {
  it('is that of podman', () => {
    const { argv, env } = containerArgv(request(PODMAN));
    expect(argv.join(' ')).toBe(
      [
        '/bin/sh -c cd -- "$0" && exec "$@" /own',
        'podman run --rm --interactive --init --name baton-a-1 --label baton.state=/state --hostname baton --workdir /w',
        '--log-driver none --pull never --no-healthcheck --image-volume tmpfs --http-proxy=false',
        '--cap-drop ALL --security-opt no-new-privileges --security-opt label=disable',
        '--security-opt seccomp=/s/seccomp.json --user 1001:1001 --ipc private --cgroupns private --read-only',
        '--pids-limit 64 --memory 134217728b --memory-swap 134217728b --ulimit nofile=1024:4096',
        '--ulimit nproc=100:200 --ulimit fsize=8388608:8388608 --ulimit core=0:0 --network ns:/proc/7/fd/8',
        `--mount type=tmpfs,target=/tmp,${SCRATCH} --mount type=tmpfs,target=/var/tmp,${SCRATCH}`,
        `--mount type=tmpfs,target=/run,${SCRATCH}`,
        '--mount type=bind,source=/s/resolv,target=/etc/resolv.conf,ro=true --mount type=bind,source=/w,target=/w',
        '--env TOKEN --env HOME=/home/agent --entrypoint  node:24 claude -p hello',
      ].join(' '),
    );
    expect(env).toEqual({ PATH: '/bin', HOME: '/home/me', CONTAINERS_CONF: '/dev/null', TOKEN: 'secret' });
  });

  it('is that of docker', () => {
    const text = containerArgv({ ...request(DOCKER), seccompFile: null, network: 'host' }).argv.join(' ');
    expect(text).toContain('docker run --rm --interactive --name');
    expect(text).toContain('--network host --mount type=tmpfs,target=/tmp,tmpfs-mode=1777');
    expect(text).toContain('--user 1001:1001');
    expect(text).not.toMatch(/seccomp=|image-volume|http-proxy|notmpcopyup|userns|ns:/);
  });

  it('keeps the ids of the user without root', () => {
    const words = (engine: ContainerEngine): string =>
      containerArgv({ ...request(engine), network: 'host' }).argv.join(' ');
    expect(words({ ...PODMAN, isRootless: true })).toContain('--userns keep-id --user 1001:1001');
    expect(words({ ...DOCKER, isRootless: true })).toContain('--user 0:0');
    expect(words({ ...PODMAN, limits: 'rlimits' })).toContain('--ulimit nproc=64:64');
    expect(words({ ...PODMAN, limits: 'rlimits' })).not.toContain('--memory');
  });

  it('has a root folder in place of the image, and a terminal', () => {
    const container = { engine: PODMAN, source: { rootfs: '/root fs' }, args: ['--mount', 'type=volume'] };
    const { argv } = containerArgv({ ...request(PODMAN), container, isTerminal: true });
    expect(argv.slice(-5)).toEqual(['--rootfs', '/root fs', 'claude', '-p', 'hello']);
    expect(argv).toEqual(expect.arrayContaining(['--tty', '--detach-keys', 'type=volume']));
  });
});

describe('the variables of a container', () => {
  it('have their values in the environment of the engine, unless the engine obeys them', () => {
    const session = {
      GOOGLE_API_KEY: 'k',
      LD_PRELOAD: '/x',
      CONTAINER_HOST: 'y',
      PATH: '/z',
      no: undefined,
      'a b': 'c',
    };
    expect(engineEnvironment(session, { PATH: '/bin', BATON_TOKEN: 't', XDG_RUNTIME_DIR: '/run/1' })).toEqual({
      args: ['--env', 'GOOGLE_API_KEY', '--env', 'LD_PRELOAD=/x', '--env', 'CONTAINER_HOST=y', '--env', 'PATH=/z'],
      env: { PATH: '/bin', XDG_RUNTIME_DIR: '/run/1', CONTAINERS_CONF: '/dev/null', GOOGLE_API_KEY: 'k' },
    });
  });
});

describe('the mounts of a container', () => {
  const options = { engine: 'podman', emptyFile: '/e', mountPoints: [], scratchBytes: 9 } as const;

  it('leave out what a later mount covers', () => {
    const mounts: readonly Mount[] = [
      { kind: 'write', at: '/home/me/x', from: '/1' },
      { kind: 'write', at: '/home/men', from: '/2' },
      { kind: 'empty', at: '/home/me' },
      { kind: 'read', at: '/home/me/y', from: '/3' },
    ];
    expect(visibleMounts(mounts)).toEqual(mounts.slice(1));
  });

  it('are quoted', () => {
    expect(mountArgs([{ kind: 'write', at: '/a,b', from: '/c"d' }], options)).toEqual([
      '--mount',
      'type=bind,"source=/c""d","target=/a,b"',
    ]);
  });

  it('are of each kind, except links', () => {
    const mounts: readonly Mount[] = [
      { kind: 'masked', at: '/m' },
      { kind: 'empty', at: '/h' },
      { kind: 'link', at: '/l', to: '/m' },
    ];
    expect(mountArgs(mounts, options)).toEqual([
      '--mount',
      'type=bind,source=/e,target=/m,ro=true',
      '--mount',
      'type=tmpfs,target=/h,notmpcopyup,tmpfs-mode=0755,ro=true',
    ]);
  });

  it('are read-only below a read-only folder too', () => {
    const mountPoints = ['/', '/data', '/data/disk', '/data2'];
    const args = mountArgs([{ kind: 'read', at: '/in', from: '/data' }], { ...options, mountPoints });
    expect(args).toContain('type=bind,source=/data/disk,target=/in/disk,ro=true');
    expect(args).toHaveLength(4);
  });
});

describe("podman's seccomp profile", () => {
  const profile = JSON.stringify({
    defaultAction: 'SCMP_ACT_ERRNO',
    syscalls: [
      { names: ['read', 'keyctl', 'mount', 'clone', 'clone3'], action: 'SCMP_ACT_ALLOW' },
      { names: ['bpf'], action: 'SCMP_ACT_ALLOW', includes: { caps: ['CAP_SYS_ADMIN'] } },
    ],
  });

  it('is tightened', () => {
    const tight = JSON.parse(tightenSeccomp(profile, { nested: false }) ?? '') as { syscalls: object[] };
    expect(tight.syscalls[0]).toEqual({ names: ['read'], action: 'SCMP_ACT_ALLOW' });
    expect(tight.syscalls.filter((rule) => 'includes' in rule)).toEqual([]);
    expect(tight.syscalls.at(-1)).toEqual({ names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 });
    const nested = JSON.parse(tightenSeccomp(profile, { nested: true }) ?? '') as { syscalls: object[] };
    expect(nested.syscalls[0]).toEqual({ names: ['read', 'mount', 'clone', 'clone3'], action: 'SCMP_ACT_ALLOW' });
  });

  it('is unchanged if it cannot be parsed', () => {
    expect(tightenSeccomp('{}', { nested: false })).toBeUndefined();
    expect(tightenSeccomp('no', { nested: false })).toBeUndefined();
  });
});

const SCRATCH = 'notmpcopyup,tmpfs-mode=1777,tmpfs-size=134217728';

const PODMAN: ContainerEngine = {
  name: 'podman',
  command: ['podman'],
  isRootless: false,
  hasInit: true,
  limits: 'cgroup v2',
  seccomp: '/usr/share/containers/seccomp.json',
};
const DOCKER: ContainerEngine = { ...PODMAN, name: 'docker', command: ['docker'], hasInit: false, seccomp: null };

function request(engine: ContainerEngine): ContainerRequest {
  return {
    spec: specWith([{ kind: 'write', at: '/w', from: '/w' }]),
    container: { engine, source: { image: 'node:24' }, args: [] },
    argv: ['claude', '-p', 'hello'],
    cwd: '/w',
    env: { TOKEN: 'secret', HOME: '/home/agent' },
    ownEnv: { PATH: '/bin', HOME: '/home/me', OTHER: 'x' },
    isTerminal: false,
    name: 'baton-a-1',
    stateDir: '/state',
    owner: { uid: 1001, gid: 1001 },
    network: { path: '/proc/7/fd/8' },
    resolvConfFile: '/s/resolv',
    seccompFile: '/s/seccomp.json',
    emptyFile: '/e',
    folder: '/own',
    mountPoints: [],
    ulimits: { files: { soft: 1024, hard: 4096 }, processes: { soft: 100, hard: 200 } },
  };
}
