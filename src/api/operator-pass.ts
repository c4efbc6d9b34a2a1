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
 * Node cannot identify the peer of a Unix socket. So a client outside of every session leaves a file with its process
 * in the state folder and sends the file's name. The daemon consumes the file and checks that process.
 */
export const PASS_HEADER = 'baton-pass';

export interface PassHolder {
  readonly pid: number;
}

/** Tokens of sessions, agents and supervisors need no pass. */
export function needsPass(token: string | undefined): boolean {
  return token !== undefined && !/^[sav]\./.test(token);
}

/** Returns the name of a new pass; undefined if the state folder is not writable. */
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

/** A full disk has no room for a file, but a short link stores its target, here the content, in its inode. */
function makeLink(path: string, target: string): boolean {
  try {
    rmSync(path, { force: true });
    symlinkSync(target, path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes a pass and returns its holder. Undefined if the pass does not exist, is old or foreign, or if its process has
 * ended.
 */
export function consumePass(stateDir: string, name: string): PassHolder | undefined {
  if (!/^[0-9a-f-]{36}$/.test(name)) return undefined;
  const path = join(stateFiles(stateDir).passes, name);
  try {
    if (lstatSync(path).isSymbolicLink()) return consumeLink(path);
    const text = readOwn(path);
    rmSync(path);
    if (text === undefined) return undefined;
    const { pid, identity }: { pid?: unknown; identity?: unknown } = Object(JSON.parse(text));
    return holderOf(pid, identity);
  } catch {
    return undefined;
  }
}

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

/** A pass is used within one connection attempt, but the daemon may be busy. */
const FRESH_MS = 60_000;

function readOwn(path: string): string | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    const isOurs = stat.uid === (process.getuid?.() ?? stat.uid) && stat.isFile() && stat.size <= 1024;
    return isOurs && Math.abs(Date.now() - stat.mtimeMs) <= FRESH_MS ? readFileSync(file, 'utf8') : undefined;
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

function holderOf(pid: unknown, identity: unknown): PassHolder | undefined {
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  // Without /proc there is no process identity, so the process id must do.
  const isSame = readProcessIdentity(process.pid) === undefined || readProcessIdentity(pid) === identity;
  return isSame ? { pid } : undefined;
}
