import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
  type Stats,
} from 'node:fs';
import type { UserSpec } from '../../protocol/sandbox.ts';
import { isRoot, runAs } from './agent-user.ts';

/**
 * Lets the agent's user write in folders of the operator: gives all files to its group, with write access. Skips a file
 * with several names, because it also belongs to other folders, such as a package store.
 */
export function shareFolders(paths: readonly string[], { gid }: UserSpec, closed: readonly string[] = []): void {
  const isClosed = identify(closed);
  for (const path of paths) {
    walk(path, (fd, stat) => {
      if (isClosed(stat)) return 'skip';
      if (stat.isFile() && stat.nlink > 1) return undefined;
      if (stat.gid !== gid) fchownSync(fd, stat.uid, gid);
      const isExecutable = stat.isDirectory() || (stat.mode & 0o100) !== 0;
      const wanted = stat.mode | (isExecutable ? 0o070 : 0o060) | (stat.isDirectory() ? 0o2000 : 0);
      // Changing the group clears the set-group-id bit, so the mode is set again.
      if (wanted !== stat.mode || stat.gid !== gid) fchmodSync(fd, wanted & 0o7777);
      return undefined;
    });
  }
}

/** Closes folders that `shareFolders` opened. Files that still belong to the agent's user stay open to it. */
export function closeFolders(paths: readonly string[], { gid }: UserSpec): void {
  const [uid, own] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  for (const path of paths) {
    walk(path, (fd, stat) => {
      if (stat.gid !== gid || (stat.uid !== uid && uid !== 0)) return;
      fchownSync(fd, stat.uid, own);
      fchmodSync(fd, stat.mode & 0o757);
    });
  }
}

/** Identifies files by device and inode, because a path may lead elsewhere by the time it is visited. */
function identify(paths: readonly string[]): (stat: Stats) => boolean {
  const known = new Set(paths.flatMap((path) => describe(statSync(path, { throwIfNoEntry: false }))));
  return (stat) => describe(stat).some((each) => known.has(each));
}

function describe(stat: Stats | undefined): string[] {
  return stat === undefined ? [] : [`${stat.dev}/${stat.ino}`];
}

/** Lets the agent's user read a folder of the operator. The caller shares writable folders afterwards. */
export function showFolder(path: string, { gid }: UserSpec): void {
  walk(path, (fd, stat) => {
    if (stat.isFile() && stat.nlink > 1) return;
    if (stat.gid !== gid) fchownSync(fd, stat.uid, gid);
    const isExecutable = stat.isDirectory() || (stat.mode & 0o100) !== 0;
    fchmodSync(fd, (stat.mode & 0o700) | (isExecutable ? 0o050 : 0o040));
  });
}

/**
 * Returns what a session wrote to the operator. Without root the files keep their owner, and the operator's group gets
 * the rights to read, change and remove them, including those that the session took away. Returns the reason if that
 * failed.
 */
export async function reclaimFolders(paths: readonly string[], user: UserSpec): Promise<string | undefined> {
  if (!isRoot()) {
    // chmod fails for the operator's own files, which need no change.
    const ran = await runAs(user, ['sh', '-c', 'chmod -R g+rwX -- "$@" 2>/dev/null; true', 'sh', ...paths]);
    return ran.ok ? undefined : ran.reason;
  }
  for (const path of paths) {
    const { uid, gid } = lstatSync(path);
    walk(
      path,
      (fd, stat) => stat.uid === user.uid && fchownSync(fd, uid, stat.gid),
      (link, stat) => {
        if (stat.uid === user.uid) lchownSync(link, uid, gid);
      },
    );
  }
  return undefined;
}

/**
 * Visits a folder and everything below it by descriptors: if a session replaces a folder by a link while root walks
 * through it, root must not leave the folder. Files that cannot be opened are skipped.
 */
function walk(
  path: string,
  visit: (fd: number, stat: Stats) => unknown,
  visitOther: (path: string, stat: Stats) => void = () => {},
): void {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat !== undefined) visitOther(path, stat);
    return;
  }
  try {
    const stat = fstatSync(fd);
    if (visit(fd, stat) === 'skip' || !stat.isDirectory()) return;
    const folder = `/proc/self/fd/${fd}`;
    for (const name of readdirSync(folder)) walk(`${folder}/${name}`, visit, visitOther);
  } finally {
    closeSync(fd);
  }
}
