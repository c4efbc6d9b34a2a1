import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listFolderIfPresent, readFileIfPresent } from '../../api/files.ts';
import type { LimitsSpec } from '../../protocol/sandbox.ts';
import { parseGroupMounts, parseOwnGroups } from './parse-groups.ts';

/** Folders in which a control group can be made: one for each controller in version 1, one for both in version 2. */
export interface GroupFolders {
  readonly kind: 'cgroup v2' | 'cgroup v1';
  readonly folders: readonly string[];
}

/** The places to try, the better one first. */
export function findGroupFolders(): GroupFolders[] {
  const mounts = parseGroupMounts(readFileIfPresent('/proc/self/mountinfo'));
  const own = parseOwnGroups(readFileIfPresent('/proc/self/cgroup'));
  const place = (controller: string): string | undefined => {
    const mount = mounts.find(({ controllers }) => controllers.includes(controller));
    const path = own.get(controller);
    if (mount === undefined || path === undefined) return undefined;
    const inside = join(mount.at, path.startsWith(mount.root) ? path.slice(mount.root.length) : path);
    // In a container the path may be one of the host.
    return existsSync(inside) ? inside : mount.at;
  };
  const unified = place('');
  // A group with processes has no groups with limits below it, so that the session's one stands beside our own.
  const delegated = [unified === undefined ? [] : [dirname(unified), unified]].flat().find((folder) => {
    const passed = readFileIfPresent(join(folder, 'cgroup.subtree_control')).split(/\s+/);
    // To change over to a group, a process needs to write here too.
    return passed.includes('pids') && passed.includes('memory') && isWritable(join(folder, 'cgroup.procs'));
  });
  const separate = [place('pids'), place('memory')].filter((folder) => folder !== undefined);
  return [
    ...(delegated === undefined ? [] : [{ kind: 'cgroup v2', folders: [delegated] } as const]),
    ...(separate.length === 2 ? [{ kind: 'cgroup v1', folders: separate } as const] : []),
  ];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Makes a group with these limits. Returns its folders, or undefined if that is not allowed here. */
export function openGroup({ kind, folders }: GroupFolders, name: string, limits: LimitsSpec): string[] | undefined {
  const groups = folders.map((folder) => join(folder, name));
  try {
    for (const group of groups) {
      mkdirSync(group, { recursive: true });
      for (const [file, value, isRequired] of SETTINGS[kind](limits)) {
        const path = join(group, file);
        // Each folder of version 1 has the files of its own controller.
        if (existsSync(path)) writeSetting(path, value, isRequired);
      }
      // The session's first process writes here with our rights.
      writeFileSync(join(group, 'cgroup.procs'), '', { flag: 'a' });
    }
    return groups;
  } catch {
    for (const group of groups) tryRemove(group);
    return undefined;
  }
}

const SETTINGS = {
  'cgroup v2': ({ processes, memory_bytes }: LimitsSpec) =>
    [
      ['pids.max', processes, true],
      ['memory.max', memory_bytes, true],
      ['memory.swap.max', 0, false],
    ] as const,
  'cgroup v1': ({ processes, memory_bytes }: LimitsSpec) =>
    [
      ['pids.max', processes, true],
      ['memory.limit_in_bytes', memory_bytes, true],
      ['memory.memsw.limit_in_bytes', memory_bytes, false],
    ] as const,
} as const;

function writeSetting(path: string, value: number, isRequired: boolean): void {
  try {
    writeFileSync(path, String(value));
  } catch (error) {
    if (isRequired) throw error;
  }
}

/** Processes of a group that were killed may take a moment to go. */
export async function removeGroups(groups: readonly string[]): Promise<void> {
  const deadline = performance.now() + REMOVE_MS;
  for (const group of groups) {
    for (let waitMs = 1; !tryRemove(group) && performance.now() < deadline; waitMs = Math.min(2 * waitMs, POLL_MS))
      await sleep(waitMs);
  }
}

const REMOVE_MS = 5000;
const POLL_MS = 20;

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return !existsSync(group);
  }
}

/** Removes what a supervisor that was killed has left. Groups with processes stay. */
export function removeLeftGroups({ folders }: GroupFolders): void {
  for (const folder of folders) {
    for (const name of listFolderIfPresent(folder)) {
      const [, pid] = /^baton-(\d+)-/.exec(name) ?? [];
      if (pid !== undefined && !isRunning(Number(pid))) tryRemove(join(folder, name));
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    readFileSync(`/proc/${pid}/stat`);
    return true;
  } catch {
    return false;
  }
}
