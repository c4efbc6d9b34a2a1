import { accessSync, constants } from 'node:fs';
import { release } from 'node:os';
import type { LimitsSpec, SandboxRecord } from '../../protocol/sandbox.ts';
import {
  findGroupFolders,
  freezeGroups,
  openGroup,
  procsOf,
  removeGroups,
  removeLeftGroups,
} from './control-groups.ts';

export interface OpenLimits {
  readonly kind: Exclude<SandboxRecord['limits'], 'none'>;
  /** Files to which the first process writes 0 to move itself and its children into a control group. */
  readonly procs: readonly string[];
  /**
   * A command that limits another one. It runs inside the sandbox, because the kernel counts processes per user
   * namespace.
   */
  readonly prlimit: readonly string[];
  readonly notes: readonly string[];
  /** Freezes or thaws all processes of the control group. Resolves to false if no group supports that. */
  readonly freeze: (isFrozen: boolean) => Promise<boolean>;
  /** Removes the control groups once they are empty; gives up after a while. */
  readonly close: () => Promise<void>;
}

/** Opens the strongest limits that work here. File sizes and core dumps are always limited. */
export function openLimits(limits: LimitsSpec, id: string): OpenLimits {
  const name = `baton-${process.pid}-${id}`;
  for (const found of findGroupFolders()) {
    removeLeftGroups(found);
    const groups = openGroup(found, name, limits);
    if (groups === undefined) continue;
    return {
      kind: found.kind,
      procs: groups.map(procsOf),
      prlimit: renderPrlimit({ fsize: limits.disk_bytes }),
      notes: [],
      freeze: async (isFrozen) => freezeGroups(groups, isFrozen),
      close: async () => removeGroups(groups),
    };
  }
  const isCounted = process.getuid?.() !== 0 && countsByNamespace(release());
  return {
    kind: 'rlimits',
    procs: [],
    prlimit: renderPrlimit({
      fsize: limits.disk_bytes,
      data: limits.memory_bytes,
      ...(isCounted ? { nproc: limits.processes } : {}),
    }),
    notes: [
      'Memory is limited for each process, not for the session: there is no control group for it.',
      ...(isCounted ? [] : ['The number of processes is not limited: there is no control group for it.']),
    ],
    freeze: async () => false,
    close: async () => {},
  };
}

interface Rlimits {
  readonly fsize: number;
  readonly data?: number;
  readonly nproc?: number;
}

function renderPrlimit(rlimits: Rlimits): string[] {
  const program = PRLIMIT.find((path) => isProgram(path));
  if (program !== undefined)
    return [program, '--core=0', ...Object.entries(rlimits).map(([name, value]) => `--${name}=${value}`), '--'];
  const { fsize, data, nproc } = rlimits;
  const script = [
    'ulimit -c 0',
    `ulimit -f ${Math.ceil(fsize / 512)}`,
    ...(data === undefined ? [] : [`ulimit -d ${Math.ceil(data / 1024)}`]),
    // Shells use different option letters.
    ...(nproc === undefined ? [] : [`ulimit -u ${nproc} 2>/dev/null || ulimit -p ${nproc}`]),
    'exec "$@"',
  ];
  return ['/bin/sh', '-c', script.join('; '), 'sh'];
}

const PRLIMIT = ['/usr/bin/prlimit', '/bin/prlimit', '/run/current-system/sw/bin/prlimit'];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reports whether the kernel counts processes per user namespace. Before Linux 5.14 the limit counts all of the user's
 * processes, so that a session could start none on a busy desktop.
 */
export function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
