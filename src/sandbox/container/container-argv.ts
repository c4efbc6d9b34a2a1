import type { ContainerSpec, Mount, SandboxSpec } from '../../protocol/sandbox.ts';
import { engineEnvironment } from './engine-environment.ts';
import { mountArgs } from './mount-args.ts';

export interface ContainerRequest {
  readonly spec: SandboxSpec;
  readonly container: ContainerSpec;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The variables of the session. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The variables of the caller; the engine needs some of them. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  /** See `containerName`. */
  readonly name: string;
  /** The owner of the container: `listContainers` finds all containers of a state folder. */
  readonly stateDir: string;
  /** The owner of the worktree, who also owns what the session writes. */
  readonly owner: { readonly uid: number; readonly gid: number };
  /** A path names a network namespace, such as `/proc/PID/fd/N`. */
  readonly network: 'none' | 'host' | { readonly path: string };
  readonly resolvConfFile: string | null;
  /** See `writeSeccompProfile`. */
  readonly seccompFile: string | null;
  readonly emptyFile: string;
  /** The working directory of the engine: a folder of the caller that no session can write. */
  readonly folder: string;
  readonly mountPoints: readonly string[];
  readonly ulimits: OwnLimits;
}

/** Limits of the calling process, which an engine without CAP_SYS_RESOURCE cannot exceed. -1: unlimited. */
export interface OwnLimits {
  readonly files: { readonly soft: number; readonly hard: number };
  readonly processes: { readonly soft: number; readonly hard: number };
}

export interface ContainerCommand {
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the engine's process. */
  readonly env: Readonly<Record<string, string>>;
}

/** Renders `podman run …` or `docker run …` in the foreground: its exit code is the program's exit code. */
export function containerArgv(request: ContainerRequest): ContainerCommand {
  const { container, env, ownEnv } = request;
  const variables = engineEnvironment(env, ownEnv);
  const { source } = container;
  return {
    argv: [
      // If memory runs out, the engine's monitor writes a file `oom` in its working directory. In the worktree, that
      // name could be a link.
      '/bin/sh',
      '-c',
      'cd -- "$0" && exec "$@"',
      request.folder,
      ...container.engine.command,
      'run',
      ...processArgs(request),
      ...privilegeArgs(request),
      ...limitArgs(request),
      ...networkArgs(request),
      ...mountArgs(withSystemFiles(request), {
        engine: container.engine.name,
        emptyFile: request.emptyFile,
        mountPoints: request.mountPoints,
        scratchBytes: request.spec.limits.memory_bytes,
      }),
      ...container.args,
      ...variables.args,
      // The image's entry point would run the program in its own way.
      '--entrypoint',
      '',
      // podman's `--rootfs` is a flag: the folder takes the place of the image.
      ...('rootfs' in source ? ['--rootfs', source.rootfs] : [source.image]),
      ...request.argv,
    ],
    env: variables.env,
  };
}

function processArgs({ name, stateDir, cwd, isTerminal, container }: ContainerRequest): readonly string[] {
  const isPodman = container.engine.name === 'podman';
  return [
    '--rm',
    '--interactive',
    ...(isTerminal ? ['--tty', '--detach-keys', ''] : []),
    ...(container.engine.hasInit ? ['--init'] : []),
    '--name',
    name,
    '--label',
    `${STATE_LABEL}=${stateDir}`,
    '--hostname',
    'baton',
    '--workdir',
    cwd,
    // The supervisor keeps the output, so the engine need not keep it too.
    '--log-driver',
    'none',
    '--pull',
    'never',
    '--no-healthcheck',
    ...(isPodman ? ['--image-volume', 'tmpfs', '--http-proxy=false'] : []),
  ];
}

export const STATE_LABEL = 'baton.state';

function privilegeArgs({ container, owner, seccompFile }: ContainerRequest): readonly string[] {
  const { name, isRootless } = container.engine;
  // Rootless docker maps the user to root of the container. Rootless podman can keep the user's own id.
  const user = name === 'docker' && isRootless ? '0:0' : `${owner.uid}:${owner.gid}`;
  return [
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
    // With SELinux, files of the user would need the label of containers.
    '--security-opt',
    'label=disable',
    ...(seccompFile === null ? [] : ['--security-opt', `seccomp=${seccompFile}`]),
    ...(name === 'podman' && isRootless ? ['--userns', 'keep-id'] : []),
    '--user',
    user,
    '--ipc',
    'private',
    '--cgroupns',
    'private',
    '--read-only',
  ];
}

function limitArgs({ container, spec, ulimits }: ContainerRequest): readonly string[] {
  const { processes, memory_bytes, disk_bytes } = spec.limits;
  const hasCgroup = container.engine.limits !== 'rlimits' && container.engine.limits !== 'none';
  const ofProcesses = hasCgroup ? ulimits.processes : { soft: processes, hard: processes };
  return [
    ...(hasCgroup
      ? ['--pids-limit', String(processes), '--memory', `${memory_bytes}b`, '--memory-swap', `${memory_bytes}b`]
      : []),
    ...ulimitArg('nofile', ulimits.files),
    ...ulimitArg('nproc', ofProcesses),
    ...ulimitArg('fsize', { soft: disk_bytes, hard: disk_bytes }),
    ...ulimitArg('core', { soft: 0, hard: 0 }),
  ];
}

function ulimitArg(name: string, { soft, hard }: { readonly soft: number; readonly hard: number }): readonly string[] {
  return ['--ulimit', `${name}=${soft}:${hard}`];
}

function networkArgs({ network, container }: ContainerRequest): readonly string[] {
  if (typeof network !== 'string' && container.engine.name === 'docker')
    throw new Error('docker cannot join a network namespace');
  return ['--network', typeof network === 'string' ? network : `ns:${network.path}`];
}

/** The image provides the system, so only the session's own paths are mounted into it. */
function withSystemFiles({ spec, resolvConfFile }: ContainerRequest): readonly Mount[] {
  const temporary = ['/tmp', '/var/tmp', '/run'].map((at): Mount => ({ kind: 'scratch', at }));
  const names: readonly Mount[] =
    resolvConfFile === null ? [] : [{ kind: 'read', at: '/etc/resolv.conf', from: resolvConfFile }];
  return [...temporary, ...names, ...spec.mounts];
}
