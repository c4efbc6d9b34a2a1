import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Disk, DiskFacts } from '../checks/disk.ts';
import type { Place } from '../place.ts';

export async function readDiskFacts({ stateDir, repository }: Place): Promise<DiskFacts> {
  const folders = [
    { holds: 'the ledger', path: existing(stateDir) },
    ...(repository.ok ? [{ holds: 'worktrees', path: existing(repository.value.mainTop) }] : []),
  ];
  const byDevice = Map.groupBy(folders, ({ path }) => statSync(path).dev);
  const disks = await Promise.all([...byDevice.values()].map(async (same) => readDisk(same)));
  return { disks };
}

async function readDisk(folders: readonly { readonly holds: string; readonly path: string }[]): Promise<Disk> {
  const path = folders[0]?.path ?? '/';
  const { bavail, bsize, files, ffree } = await statfs(path);
  return {
    holds: folders.map(({ holds }) => holds),
    path,
    freeBytes: bavail * bsize,
    freeFiles: files === 0 ? null : ffree,
  };
}

/** Returns the nearest existing folder above, because the state folder may be missing. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}
