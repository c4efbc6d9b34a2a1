import { statfsSync, statSync, type Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolderIfPresent, readFileIfPresent } from '../../api/files.ts';

/** The free space of each disk that the folders are on, by device number. */
export function freeBytes(folders: readonly string[]): ReadonlyMap<number, number> {
  const disks = new Map<number, number>();
  for (const folder of folders) {
    try {
      const { dev } = statSync(folder);
      if (disks.has(dev)) continue;
      const { bavail, bsize } = statfsSync(folder);
      disks.set(dev, bavail * bsize);
    } catch {
      // A missing folder takes no space.
    }
  }
  return disks;
}

export function sumOf(sizes: ReadonlyMap<unknown, number>): number {
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

export interface MeasuredFolders {
  readonly bytes: number;
  /** False if a folder could not be read: a session can remove its permissions, or nest folders too deep for a path. */
  readonly isWhole: boolean;
}

/**
 * Measures the disk space that folders take; stops above the limit. Links are not followed, and a file with two names
 * counts once.
 */
export async function measureFolders(
  folders: readonly string[],
  limitBytes: number,
  sinceMs = 0,
): Promise<MeasuredFolders> {
  const waiting = [...folders];
  const counted = new Set<string>();
  let [bytes, isWhole] = [0, true];
  // The session may remove folders and files at any time.
  const onFailure = (error: unknown): undefined => {
    isWhole &&= error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
  };
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const paths of listFolder(folder)) {
        for (const [i, stats] of (
          await Promise.all(paths.map(async (path) => lstat(path).catch(onFailure)))
        ).entries()) {
          if (stats === undefined || isCountedTwice(stats, counted)) continue;
          if (stats.isDirectory()) waiting.push(paths[i] ?? '');
          // Every file counts a minimum, because a disk can also run out of inodes.
          if (stats.ctimeMs >= sinceMs) bytes += Math.max(stats.blocks * 512, LEAST_BYTES);
        }
        if (bytes > limitBytes) return { bytes, isWhole };
      }
    } catch (error) {
      onFailure(error);
    }
  }
  return { bytes, isWhole };
}

/** Lists a folder in pieces, because a session can create millions of names in it. */
async function* listFolder(folder: string): AsyncGenerator<readonly string[]> {
  let paths: string[] = [];
  for await (const { name } of await opendir(folder, { bufferSize: AT_ONCE })) {
    paths.push(join(folder, name));
    if (paths.length < AT_ONCE) continue;
    yield paths;
    paths = [];
  }
  yield paths;
}

const LEAST_BYTES = 4096;
const AT_ONCE = 64;

function isCountedTwice(stats: Stats, counted: Set<string>): boolean {
  const { dev, ino, nlink } = stats;
  if (stats.isDirectory() || nlink < 2 || counted.size > MOST_LINKED) return false;
  const id = `${dev}:${ino}`;
  if (counted.has(id)) return true;
  counted.add(id);
  return false;
}

const MOST_LINKED = 1_000_000;

/** Measures deleted files on these disks that processes keep open. */
export function measureDeleted(pids: readonly number[], disks: ReadonlyMap<number, unknown>): number {
  const files = new Map<string, number>();
  for (const pid of pids) {
    for (const name of listFolderIfPresent(`/proc/${pid}/fd`)) {
      try {
        const { nlink, dev, ino, blocks } = statSync(`/proc/${pid}/fd/${name}`);
        if (nlink === 0 && disks.has(dev)) files.set(`${dev}:${ino}`, blocks * 512);
      } catch {
        // The descriptor was closed meanwhile.
      }
    }
  }
  return sumOf(files);
}

/**
 * Reports whether a process maps deleted files: such a file keeps its space although it has neither a name nor a
 * descriptor.
 */
export function mapsDeletedFiles(pid: number): boolean {
  const lines = readFileIfPresent(`/proc/${pid}/maps`).split('\n');
  return lines.some((line) => line.endsWith(' (deleted)') && !/ \/(?:memfd:|SYSV|dev\/(?:zero|shm)\b)/.test(line));
}
