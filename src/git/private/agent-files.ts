import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';

/**
 * For reading folders that a running agent writes. The agent can put links, pipes and huge files there, and replace a
 * folder by a link while Baton reads it. So links are never followed, no open blocks, and paths go through an open
 * folder.
 */

/** Returns the content of a regular file; null if it is missing, of another kind, or larger than `mostBytes`. */
export function readAgentFile(path: string, mostBytes: number): string | null {
  const file = openOrNull(path, constants.O_RDONLY);
  if (file === null) return null;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > mostBytes) return null;
    const bytes = Buffer.alloc(stat.size);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    return bytes.toString('utf8', 0, length);
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** An open folder. `path` stays at this folder, even if the agent replaces it. */
export interface AgentFolder {
  readonly path: string;
  readonly names: readonly string[];
  /** Whether all names were read. */
  readonly isWhole: boolean;
}

/** Opens a folder below one of Baton's, along the names in `way`. Null if one is missing, a link, or unreadable. */
export function withAgentFolder<T>(
  root: string,
  way: readonly string[],
  mostNames: number,
  use: (folder: AgentFolder) => T,
): T | null {
  const opened = openAgentFolder(root, way, mostNames);
  if (opened === null) return null;
  try {
    return use(opened);
  } finally {
    opened.close();
  }
}

export function openAgentFolder(
  root: string,
  way: readonly string[],
  mostNames: number,
): (AgentFolder & { readonly close: () => void }) | null {
  // An open folder of `withAgentFolder` is itself a link, so it is not opened again.
  const [first, ...rest] = way;
  let file = openOrNull(first === undefined ? root : join(root, first), FOLDER);
  for (const name of rest) {
    if (file === null) return null;
    const next = openOrNull(`/proc/self/fd/${file}/${name}`, FOLDER);
    closeSync(file);
    file = next;
  }
  return file === null ? null : listFolder(file, mostNames);
}

function listFolder(file: number, mostNames: number): ReturnType<typeof openAgentFolder> {
  const path = `/proc/self/fd/${file}`;
  const close = (): void => closeSync(file);
  try {
    const names: string[] = [];
    using folder = opendirSync(path);
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (names.length === mostNames) return { path, names, isWhole: false, close };
      names.push(entry.name);
    }
    return { path, names, isWhole: true, close };
  } catch {
    close();
    return null;
  }
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

export function isRealFolder(path: string): boolean {
  return statAgentFile(path)?.isDirectory() === true;
}

/** Undefined if the path does not exist; null if the agent has made it unreadable. */
export function statAgentFile(path: string): Stats | null | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return null;
  }
}

/**
 * Removes an agent's files after all its processes have ended. Moves them to a folder of Baton first, because an agent
 * can make folders that are hard to remove; these stay there.
 */
export function discardAgentFiles(path: string, trash: string): void {
  const found = statAgentFile(path);
  if (found === undefined) return;
  // Without this permission the folder cannot be moved to another parent.
  if (found?.isDirectory() === true) chmodSync(path, 0o700);
  mkdirSync(trash, { recursive: true });
  const taken = join(trash, `discarded-${process.pid}-${performance.now()}`);
  renameSync(path, taken);
  try {
    removeAgentFolder(taken);
  } catch {
    // The folder is too deep or belongs to another user.
  }
}

/** An agent may have removed all permissions of its folders, even its own. */
export function removeAgentFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    unlock(path);
    rmSync(path, { recursive: true, force: true });
  }
}

function unlock(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) unlock(join(folder, entry.name));
}

function openOrNull(path: string, flags: number): number | null {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}
