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
 * Lets the agent's user write in folders of the operator: all files there belong to its group, which may write. A file
 * with several names is left alone, because it is a file of other folders too, such as of a package store.
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
      // A change of the group clears the set-group-id bit.
      if (wanted !== stat.mode || stat.gid !== gid) fchmodSync(fd, wanted & 0o7777);
      return undefined;
    });
  }
}

/** Closes folders again that `shareFolders` opened. Files that still belong to the agent's user stay open to it. */
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

/** By device and number: a path may lead elsewhere by the time it is visited. */
function identify(paths: readonly string[]): (stat: Stats) => boolean {
  const known = new Set(paths.flatMap((path) => describe(statSync(path, { throwIfNoEntry: false }))));
  return (stat) => describe(stat).some((each) => known.has(each));
}

function describe(stat: Stats | undefined): string[] {
  return stat === undefined ? [] : [`${stat.dev}/${stat.ino}`];
}

/** Lets the agent's user read a folder of the operator. Folders that it may write are shared afterwards. */
export function showFolder(path: string, { gid }: UserSpec): void {
  walk(path, (fd, stat) => {
    if (stat.isFile() && stat.nlink > 1) return;
    if (stat.gid !== gid) fchownSync(fd, stat.uid, gid);
    const isExecutable = stat.isDirectory() || (stat.mode & 0o100) !== 0;
    fchmodSync(fd, (stat.mode & 0o700) | (isExecutable ? 0o050 : 0o040));
  });
}

/**
 * After a session: what it wrote is the operator's again. Without root the files keep their owner, and the operator's
 * group gets the rights to read, change and remove them, also those that the session took away. Returns the reason if
 * that failed.
 */
export async function reclaimFolders(paths: readonly string[], user: UserSpec): Promise<string | undefined> {
  if (!isRoot()) {
    // chmod fails for files of the operator, which need no change.
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
 * Visits a folder and all below it, by descriptors: a session that swaps a folder for a link while root walks through
 * it must not lead root out of the folder. What cannot be opened is left out.
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
