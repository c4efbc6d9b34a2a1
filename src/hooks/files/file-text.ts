import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';

interface FileText {
  /** The real path: symbolic links are resolved, and the links stay in place. */
  readonly path: string;
  /** Null if the file does not exist. */
  readonly text: string | null;
}

export type ReadFileText =
  | { readonly ok: true; readonly file: FileText }
  | { readonly ok: false; readonly what: string };

const MOST_BYTES = 64 * 1024 * 1024;

/** Refuses text that is not UTF-8, since it could not be written back unchanged. */
export function readFileText(named: string): ReadFileText {
  try {
    const path = followLinks(named);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { ok: true, file: { path, text: null } };
    if (!found.isFile()) return { ok: false, what: 'it is not a file' };
    if (found.size > MOST_BYTES) return { ok: false, what: 'it is too large' };
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    return { ok: true, file: { path, text } };
  } catch (error) {
    const isEncoding = error instanceof TypeError;
    return { ok: false, what: isEncoding ? 'it is not UTF-8' : error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Returns why the file cannot be written, or undefined if it can. Root could write a read-only file, but Baton respects
 * its mode.
 */
export function findWriteObstacle(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & 0o222) === 0) return 'it is read-only';
  return undefined;
}

/** Resolves symbolic links, even if the target does not exist yet. */
export function followLinks(named: string): string {
  let path = resolve(named);
  for (let links = 0; links < 40; links++) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return join(realFolder(dirname(path)), path.slice(dirname(path).length));
    if (!found.isSymbolicLink()) return realpathSync(path);
    path = resolve(dirname(path), readlinkSync(path));
  }
  throw new Error('its links lead in a circle');
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
