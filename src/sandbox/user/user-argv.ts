import type { SandboxSpec, UserSpec } from '../../protocol/sandbox.ts';
import { asAgent, isRoot } from './agent-user.ts';

export interface UserRequest {
  readonly spec: SandboxSpec;
  readonly user: UserSpec;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A path names a network namespace, such as `/proc/PID/fd/N`. Only root can enter one. */
  readonly network: 'host' | 'none' | { readonly path: string };
  /**
   * Files of control groups that the program joins before it becomes the other user. If empty, memory is limited per
   * process.
   */
  readonly procs?: readonly string[];
  readonly asRoot?: boolean;
}

/**
 * Runs the program as another user of this machine, who cannot become root again. The process limit counts all
 * processes of that user. sudo resets HOME, PATH and the like, so they are set again inside.
 */
export function userArgv({
  spec,
  user,
  argv,
  env,
  network,
  procs,
  asRoot = isRoot(),
}: UserRequest): readonly [string, ...string[]] {
  const { processes, disk_bytes, memory_bytes } = spec.limits;
  // Clients run commands with SHELL, and the user's login shell allows none.
  const all: Readonly<Record<string, string | undefined>> = { SHELL: '/bin/sh', ...env };
  const names = Object.keys(all).filter((name) => all[name] !== undefined && /^[A-Za-z_]\w*$/.test(name));
  const set = asRoot ? [] : names.filter((name) => SET_BY_SUDO.test(name)).map((name) => `${name}=${all[name]}`);
  const passed = names.filter((name) => !SET_BY_SUDO.test(name));
  const limits = [`--nproc=${processes}:${processes}`, `--fsize=${disk_bytes}:${disk_bytes}`, '--core=0:0'];
  const ofMemory = procs?.length === 0 ? [`--data=${memory_bytes}:${memory_bytes}`] : [];
  const [program = 'env', ...more] = [
    ...(procs === undefined || procs.length === 0 ? [] : ['/bin/sh', '-c', JOIN, 'sh', ...procs, '--']),
    ...networkWords(network),
    ...asAgent(user, passed, asRoot),
    'prlimit',
    ...limits,
    ...ofMemory,
    '--',
    ...(set.length === 0 ? [] : ['env', ...set]),
    ...argv,
  ];
  return [program, ...more];
}

function networkWords(network: UserRequest['network']): readonly string[] {
  if (network === 'host') return [];
  return network === 'none' ? ['unshare', '--net', '--'] : ['nsenter', `--net=${network.path}`, '--'];
}

const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 126; shift; done; shift; exec "$@"';

/** Variables that sudo sets. None is a secret: their values become arguments. */
const SET_BY_SUDO =
  /^(?:HOME|PATH|USER|LOGNAME|SHELL|MAIL|TERM|LANG|LC_\w+|LD_\w+|SUDO_\w+|TMPDIR|PWD|PYTHON\w+|PERL\w+|BASH_ENV|ENV|NODE_OPTIONS)$/;
