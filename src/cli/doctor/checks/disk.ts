import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';
import { renderBytes } from './store.ts';

export interface DiskFacts {
  /** One for each file system, with the folders on it. */
  readonly disks: readonly Disk[];
}

export interface Disk {
  readonly holds: readonly string[];
  readonly path: string;
  readonly freeBytes: number;
  /** Null if the file system does not count its files. */
  readonly freeFiles: number | null;
}

export const diskCheck = defineCheck('disk', 'Free space for the ledger and for worktrees', {
  free: ok('There is enough space'),
  low: warning('Less than 1 GB, or fewer than 10,000 files, are left'),
  full: problem('Less than 100 MB, or fewer than 1,000 files, are left: entries may not be recorded'),
});

const LOW = { bytes: 1e9, files: 10_000 } as const;
const FULL = { bytes: 1e8, files: 1000 } as const;

export function diagnoseDisk({ disks }: DiskFacts): readonly Diagnosis[] {
  return disks.map(({ holds, path, freeBytes, freeFiles }) => {
    const isBelow = (limit: typeof LOW | typeof FULL): boolean =>
      freeBytes < limit.bytes || (freeFiles !== null && freeFiles < limit.files);
    const files = freeFiles !== null && freeFiles < LOW.files ? ` and ${freeFiles} files` : '';
    const detail = `${renderBytes(freeBytes)}${files} free for ${holds.join(' and ')}, at ${path}`;
    const fix = 'Free some space. Worktrees of tasks that are over: baton worktree prune';
    if (isBelow(FULL)) return diskCheck.found('full', { detail, fix });
    return isBelow(LOW) ? diskCheck.found('low', { detail, fix }) : diskCheck.found('free', { detail });
  });
}
