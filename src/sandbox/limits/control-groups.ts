import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listFolderIfPresent, readFileIfPresent } from '../../api/files.ts';
import type { LimitsSpec } from '../../protocol/sandbox.ts';
import { parseGroupMounts, parseOwnGroups } from './parse-groups.ts';

/** Folders in which a control group can be created: one for each controller in version 1, one for both in version 2. */
export interface GroupFolders {
  readonly kind: 'cgroup v2' | 'cgroup v1';
  readonly folders: readonly string[];
}

/** The candidates for control groups, the better one first. */
export function findGroupFolders(): GroupFolders[] {
  const mounts = parseGroupMounts(readFileIfPresent('/proc/self/mountinfo'));
  const own = parseOwnGroups(readFileIfPresent('/proc/self/cgroup'));
  const place = (controller: string): string | undefined => {
    const mount = mounts.find(({ controllers }) => controllers.includes(controller));
    const path = own.get(controller);
    if (mount === undefined || path === undefined) return undefined;
    const inside = join(mount.at, path.startsWith(mount.root) ? path.slice(mount.root.length) : path);
    // In a container, the path may be a path of the host.
    return existsSync(inside) ? inside : mount.at;
  };
  const unified = place('');
  // A group with processes cannot have groups with limits below it, so the session's group is a sibling of our own.
  const delegated = [unified === undefined ? [] : [dirname(unified), unified]].flat().find((folder) => {
    const passed = readFileIfPresent(join(folder, 'cgroup.subtree_control')).split(/\s+/);
    // Moving a process to a group also needs write access here.
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

/** Creates a group with these limits. Returns its folders, or undefined if that is not allowed here. */
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
      mkdirSync(join(group, INNER), { recursive: true });
      // The session's first process writes this file with our rights.
      writeFileSync(procsOf(group), '', { flag: 'a' });
    }
    return groups;
  } catch {
    for (const group of groups) tryRemove(group);
    return undefined;
  }
}

/**
 * The file that moves a process into a subgroup, which has no limits. A session with its own namespaces can mount and
 * change the group that it is in, but no group above.
 */
export function procsOf(group: string): string {
  return join(group, INNER, 'cgroup.procs');
}

const INNER = 'session';

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
      // Before Linux 5.11, subgroups are limited only with this setting.
      ['memory.use_hierarchy', 1, false],
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

/**
 * Freezes the processes of groups, with those that they start meanwhile, or thaws them. Resolves to false if a group
 * cannot freeze. Version 1 is not used, because its frozen processes cannot be killed.
 */
export async function freezeGroups(groups: readonly string[], isFrozen: boolean): Promise<boolean> {
  const state = `frozen ${isFrozen ? 1 : 0}`;
  try {
    for (const group of groups) writeFileSync(join(group, 'cgroup.freeze'), isFrozen ? '1' : '0', { flag: 'r+' });
  } catch {
    return false;
  }
  const deadline = performance.now() + FREEZE_MS;
  const isDone = (): boolean =>
    groups.every((group) => readFileIfPresent(join(group, 'cgroup.events')).includes(state));
  while (!isDone() && performance.now() < deadline) await sleep(1);
  return isDone();
}

const FREEZE_MS = 1000;

/** Removes groups. Killed processes of a group may take a moment to disappear. */
export async function removeGroups(groups: readonly string[]): Promise<void> {
  const deadline = performance.now() + REMOVE_MS;
  for (const group of groups) {
    for (let waitMs = 1; !tryRemove(group) && performance.now() < deadline; waitMs = Math.min(2 * waitMs, POLL_MS))
      await sleep(waitMs);
  }
}

const REMOVE_MS = 5000;
const POLL_MS = 20;

/** Removes a group with the subgroups that a session has created. */
function tryRemove(group: string): boolean {
  try {
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory() && !tryRemove(join(group, entry.name))) return false;
    rmdirSync(group);
    return true;
  } catch {
    return !existsSync(group);
  }
}

/** Removes groups that a killed supervisor has left. Groups with processes stay. */
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
