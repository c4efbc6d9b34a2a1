import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { writeFileAtomically } from '../../api/files.ts';
import type { CredentialFile } from '../../protocol/sandbox.ts';

/**
 * Synchronises the client's login with the user's. A client renews its login while it runs, which invalidates the old
 * one: a renewed copy is written back if it is well formed and the user's file is unchanged; a login that another
 * session renewed is copied in.
 */
export class CredentialKeeper {
  readonly #files: { readonly file: CredentialFile; digest: string | null }[];
  readonly #print: (line: string) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: readonly CredentialFile[], print: (line: string) => void) {
    this.#files = files.map((file) => ({ file, digest: file.digest }));
    this.#print = print;
  }

  begin(): void {
    if (this.#files.length > 0) this.#timer = setInterval(() => this.compareAll(), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.compareAll();
  }

  compareAll(): void {
    for (const each of this.#files) {
      try {
        withLock(`${each.file.original}.baton-lock`, () => {
          each.digest = compare(each.file, each.digest);
        });
      } catch (error) {
        this.#print(`baton: the login ${each.file.original} was not updated: ${String(error)}`);
        clearInterval(this.#timer);
      }
    }
  }
}

const POLL_MS = 2000;

/** Compares both logins, copies the newer one, and returns the digest of the user's login afterwards. */
function compare({ original, copy, format }: CredentialFile, known: string | null): string | null {
  const [ours, theirs] = [readRegular(copy), readRegular(original)];
  const [ourDigest, theirDigest] = [ours, theirs].map(digestOf);
  if (ourDigest === theirDigest || theirDigest === undefined) return ourDigest ?? null;
  if (theirDigest !== known) {
    // The user or another session has renewed the login, so that one is used.
    if (theirs !== undefined) placeCopy(copy, theirs);
    return theirDigest;
  }
  if (ours === undefined || !isWellFormed(ours, format)) return known;
  writeFileAtomically(original, ours);
  return ourDigest ?? null;
}

/** The session can replace the file, so links, pipes and huge files are not read. */
function readRegular(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const MAX_BYTES = 1024 * 1024;

function digestOf(text: string | undefined): string | null {
  return text === undefined ? null : createHash('sha256').update(text).digest('hex');
}

export function isWellFormed(text: string, format: CredentialFile['format']): boolean {
  if (format === 'text') return text.trim() !== '' && !text.includes('\0');
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  } catch {
    return false;
  }
}

/** Replaces the copy. The draft must be a new file, because the session may have put a link in its place. */
function placeCopy(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
  renameSync(draft, path);
}

/**
 * Serialises sessions with the same login. If the lock is taken, this round is skipped; an old lock belongs to a dead
 * supervisor.
 */
function withLock(path: string, work: () => void): void {
  const isOld = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > STALE_MS;
  if (isOld) rmSync(path, { force: true });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // The lock is taken, or the folder does not exist; without it there is no login either.
    if (error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOENT')) return;
    throw error;
  }
  try {
    work();
  } finally {
    rmSync(path, { force: true });
  }
}

const STALE_MS = 10_000;
