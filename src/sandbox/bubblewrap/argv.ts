import type { Mount, SandboxSpec } from '../../protocol/sandbox.ts';

/** One process in a bubblewrap sandbox. Paths are outside paths, except for `cwd` and `argv`. */
export interface BubblewrapRequest {
  readonly spec: Pick<SandboxSpec, 'system' | 'mounts' | 'nested' | 'limits'>;
  readonly bwrap: BwrapProgram;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** A command that runs another one in the session's network namespace; empty if there is none. */
  readonly enter: readonly string[];
  /** Creates a network namespace with only a loopback interface. */
  readonly unsharesNet: boolean;
  /** The session needs a user's terminal as its controlling terminal. */
  readonly isTerminal: boolean;
  /** A folder for files that bubblewrap reads at its start. No sandbox shows it. */
  readonly folder: string;
  readonly seccomp: Uint8Array | undefined;
  /** Files that replace others, such as resolv.conf and the list of users. */
  readonly replaced: readonly { readonly at: string; readonly text: string }[];
  /** Paths in /proc that root may write, or only root may read. They are hidden or made read-only. */
  readonly proc: Readonly<Record<'folders' | 'files' | 'readOnly', readonly string[]>>;
  /** Files that move the process into its control groups. */
  readonly procs: readonly string[];
  /** A command inside the sandbox that limits another one. */
  readonly prlimit: readonly string[];
  /** The user and group id outside. */
  readonly uid: number;
  readonly gid: number;
  /**
   * The whole environment inside. Absent if the caller's passes on: that one also reaches the programs that open the
   * sandbox, so it must not be a session's.
   */
  readonly env?: Readonly<Record<string, string>>;
}

export interface BwrapProgram {
  readonly path: string;
  /** The version as bubblewrap prints it, such as `0.8.0`. */
  readonly version: string;
}

export interface BubblewrapCommand {
  readonly argv: readonly string[];
  /** Files that the caller writes before the start. */
  readonly files: readonly { readonly path: string; readonly content: string | Uint8Array }[];
}

/** The command to spawn. It needs only the standard descriptors, and passes its environment on. */
export function bubblewrapArgv(request: BubblewrapRequest): BubblewrapCommand {
  const { folder, seccomp, bwrap, enter, procs, prlimit, argv, replaced } = request;
  const [rules, options] = [`${folder}/seccomp.bpf`, `${folder}/bwrap.args`];
  const opened = seccomp === undefined ? [options] : [options, rules];
  const start = [
    '/bin/sh',
    '-c',
    OPEN_FILES,
    'sh',
    ...opened,
    '--',
    bwrap.path,
    '--args',
    '3',
    '--',
    ...prlimit,
    ...argv,
  ];
  const join = JOIN_GROUPS.replace('FAIL', request.isTerminal ? TELL : 'exit 125');
  const joined = procs.length === 0 ? [] : ['/bin/sh', '-c', join, 'sh', ...procs, '--'];
  return {
    argv: [...joined, ...enter, ...start],
    files: [
      // The file of options has no length limit, unlike a command line.
      {
        path: options,
        content: renderOptions(request)
          .map((word) => `${word}\0`)
          .join(''),
      },
      { path: `${folder}/empty`, content: '' },
      ...replaced.map(({ text }, i) => ({ path: `${folder}/replaced-${i}`, content: text })),
      ...(seccomp === undefined ? [] : [{ path: rules, content: seccomp }]),
    ],
  };
}

/** Writing 0 moves the writing process. */
const JOIN_GROUPS = 'while [ "$1" != -- ]; do echo 0 >"$1" || FAIL; shift; done; shift; exec "$@"';
/** The system may not allow a process of a user's terminal to move to a group of the daemon's service. */
const TELL = 'echo "baton: a limit of the session does not apply in this terminal" >&2';
/** Opens the options as descriptor 3, and the filter as descriptor 4. */
const OPEN_FILES =
  'exec 3<"$1" || exit 125; shift; if [ "$1" != -- ]; then exec 4<"$1" || exit 125; shift; fi; shift; exec "$@"';

function renderOptions(request: BubblewrapRequest): string[] {
  const { spec, bwrap, uid, gid, folder, replaced, proc } = request;
  const size = (bytes: number): string[] => (isAtLeast(bwrap.version, 0, 7) ? ['--size', String(bytes)] : []);
  const inMemory = Math.floor(spec.limits.memory_bytes / 4);
  const all = [...spec.system, ...spec.mounts];
  const hasMountsBelow = ({ at }: Mount): boolean => all.some((other) => other.at.startsWith(`${at}/`));
  // Making a folder read-only costs more than mounting it, and only few files fit into one page.
  const isSmall = (mount: Mount): boolean => isAtLeast(bwrap.version, 0, 7) && !hasMountsBelow(mount);
  const render = (mount: Mount): string[] =>
    mount.kind === 'empty' && isSmall(mount) ? emptyFolder(mount.at) : renderMount(mount, folder, size(inMemory));
  const emptyFolder = (at: string): string[] => ['--perms', '0555', ...size(PAGE_BYTES), '--tmpfs', at];
  const closed = all.filter((mount) => mount.kind === 'empty' && !isSmall(mount));
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(request.unsharesNet ? ['--unshare-net'] : []),
    ...(!spec.nested && isAtLeast(bwrap.version, 0, 8) ? ['--disable-userns'] : []),
    '--die-with-parent',
    ...(request.isTerminal ? [] : ['--new-session']),
    ...(request.env === undefined ? [] : ['--clearenv', ...Object.entries(request.env).flatMap(setVariable)]),
    // A command of `enter` may have made the caller root of a user namespace.
    '--uid',
    String(uid === 0 ? 1000 : uid),
    '--gid',
    String(uid === 0 ? 1000 : gid),
    ...(uid === 0 ? ['--setenv', 'USER', 'baton', '--setenv', 'LOGNAME', 'baton'] : []),
    // Variables that shells leave behind.
    ...['OLDPWD', 'SHLVL', '_'].flatMap((name) => ['--unsetenv', name]),
    ...spec.system.filter(({ at }) => !isInMemory(at)).flatMap(render),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...size(inMemory),
    '--tmpfs',
    '/dev/shm',
    // The new file system would hide system paths in it, such as a folder of PATH.
    ...spec.system.filter(({ at }) => isInMemory(at)).flatMap(render),
    ...proc.readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...proc.folders.flatMap(emptyFolder),
    ...proc.files.flatMap((path) => ['--ro-bind', `${folder}/empty`, path]),
    ...spec.mounts.flatMap(render),
    ...replaced.flatMap(({ at }, i) => ['--ro-bind', `${folder}/replaced-${i}`, at]),
    // The folders become read-only last, because mount points below them had to be created first.
    ...[...closed.map(({ at }) => at), '/dev', '/'].flatMap((at) => ['--remount-ro', at]),
    '--chdir',
    request.cwd,
    ...(request.seccomp === undefined ? [] : ['--seccomp', '4']),
  ];
}

function setVariable([name, value]: readonly [string, string]): string[] {
  return ['--setenv', name, value];
}

const PAGE_BYTES = 4096;

function renderMount(mount: Mount, folder: string, size: readonly string[]): string[] {
  switch (mount.kind) {
    case 'read':
      // A toolchain may have been removed since the plan was made, so a missing path is allowed.
      return ['--ro-bind-try', mount.from, mount.at];
    case 'write':
      return [isDevice(mount.at) ? '--dev-bind' : '--bind', mount.from, mount.at];
    case 'empty':
      return ['--tmpfs', mount.at];
    case 'scratch':
      return ['--perms', mount.at.startsWith('/run/user/') ? '0700' : '0755', ...size, '--tmpfs', mount.at];
    case 'masked':
      return ['--ro-bind', `${folder}/empty`, mount.at];
    case 'link':
      return ['--symlink', mount.to, mount.at];
  }
}

function isDevice(path: string): boolean {
  return path.startsWith('/dev/') && !isInMemory(path);
}

function isInMemory(path: string): boolean {
  return path.startsWith('/dev/shm/');
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first > major || (first === major && second >= minor);
}
