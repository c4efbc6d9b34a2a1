import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readProcessIdentity } from './processes.ts';
import { makeFolder, stateFiles } from './state-folder.ts';

/**
 * A Unix socket does not tell Node who is at its other end. A client that found itself outside of every session leaves a file with its
 * process in the state folder and sends the file's name; the daemon takes the file, once, and looks at that process itself.
 */
export const PASS_HEADER = 'baton-pass';

/** A process that a pass names. */
export interface PassHolder {
  readonly pid: number;
}

/** Only tokens of the state folder need a pass; those of sessions, agents and supervisors (`s.`, `a.`, `v.`) do not. */
export function needsPass(token: string | undefined): boolean {
  return token !== undefined && !/^[sav]\./.test(token);
}

/** Makes a pass for this process and returns its name; undefined if the state folder cannot be written. */
export function makePass(stateDir: string): string | undefined {
  const { passes } = stateFiles(stateDir);
  const name = crypto.randomUUID();
  const identity = readProcessIdentity(process.pid);
  const text = JSON.stringify({ pid: process.pid, identity: identity ?? null });
  try {
    makeFolder(passes);
    writeFileSync(join(passes, name), text, { flag: 'wx', mode: 0o600 });
    return name;
  } catch {
    return makeLink(join(passes, name), identity ?? `?/${process.pid}/?`) ? name : undefined;
  }
}

/**
 * A full disk has no block for the content of a file, and people must be able to ask what is wrong. The target of a short link lies in its
 * inode: it names no file, it is the content.
 */
function makeLink(path: string, target: string): boolean {
  try {
    rmSync(path, { force: true });
    symlinkSync(target, path);
    return true;
  } catch {
    return false;
  }
}

/** Takes a pass: it is gone after that. Undefined if there is none of this name, it is old or not ours, or its process has ended. */
export function consumePass(stateDir: string, name: string): PassHolder | undefined {
  if (!/^[0-9a-f-]{36}$/.test(name)) return undefined;
  const path = join(stateFiles(stateDir).passes, name);
  try {
    if (lstatSync(path).isSymbolicLink()) return consumeLink(path);
    const text = readOwn(path);
    rmSync(path);
    return text === undefined ? undefined : parseHolder(text);
  } catch {
    return undefined;
  }
}

/** Removes passes that no daemon took. */
export function removeOldPasses(stateDir: string): void {
  const { passes } = stateFiles(stateDir);
  try {
    for (const name of readdirSync(passes)) {
      const path = join(passes, name);
      if (Date.now() - lstatSync(path).mtimeMs > FRESH_MS) rmSync(path, { force: true });
    }
  } catch {
    // There are none, or another process was faster.
  }
}

/** Between making a pass and using it lies one connection; a daemon may be busy. */
const FRESH_MS = 60_000;
const MAX_BYTES = 1024;

function readOwn(path: string): string | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { uid, size, mtimeMs, isFile } = statPass(file);
    const isOurs = uid === (process.getuid?.() ?? uid) && isFile && size <= MAX_BYTES;
    return isOurs && Math.abs(Date.now() - mtimeMs) <= FRESH_MS ? readFileSync(file, 'utf8') : undefined;
  } finally {
    closeSync(file);
  }
}

function consumeLink(path: string): PassHolder | undefined {
  const { uid, mtimeMs } = lstatSync(path);
  const identity = readlinkSync(path);
  rmSync(path);
  const isOurs = uid === (process.getuid?.() ?? uid) && Math.abs(Date.now() - mtimeMs) <= FRESH_MS;
  return isOurs ? holderOf(Number(identity.split('/')[1]), identity) : undefined;
}

function statPass(file: number) {
  const stat = fstatSync(file);
  return { uid: stat.uid, size: stat.size, mtimeMs: stat.mtimeMs, isFile: stat.isFile() };
}

function parseHolder(text: string): PassHolder | undefined {
  const { pid, identity }: { pid?: unknown; identity?: unknown } = Object(JSON.parse(text));
  return holderOf(pid, identity);
}

function holderOf(pid: unknown, identity: unknown): PassHolder | undefined {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  // Systems without /proc have no identity to compare: there the number must do.
  const isSame = readProcessIdentity(process.pid) === undefined || readProcessIdentity(pid) === identity;
  return isSame ? { pid } : undefined;
}
