import { chmodSync, readFileSync, statSync } from 'node:fs';
import type { ApiError } from '../api/answer.ts';
import { makeFolder, readDaemonRecord, stateFiles } from '../api/state-folder.ts';
import { lockWriter } from '../ledger/sqlite/writer-lock.ts';
import { fieldsInJson } from '../protocol/shape/read-unknown.ts';

export type FolderLock =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly isTaken: boolean; readonly error: ApiError };

/** Locks the folder and makes it private. The operating system releases a dead process's lock, so it is never stale. */
export function lockStateFolder(stateDir: string): FolderLock {
  try {
    makeFolder(stateDir);
    const { uid, mode } = statSync(stateDir);
    if (uid !== process.getuid?.()) return folderUnusable(`the state folder ${stateDir} belongs to another user`);
    if ((mode & 0o077) !== 0) chmodSync(stateDir, 0o700);
    const lock = lockWriter(stateFiles(stateDir).lock);
    return lock.ok ? lock : { ok: false, isTaken: true, error: folderLockedError(stateDir) };
  } catch (error) {
    return folderUnusable(`the state folder ${stateDir} cannot be used: ${String(error)}`);
  }
}

function folderLockedError(stateDir: string): ApiError {
  const record = readDaemonRecord(stateDir);
  const who = record === undefined ? 'it has just started' : `process ${record.pid}, since ${record.started}`;
  return {
    code: 'daemon-runs',
    message: `a daemon already runs for ${stateDir}: ${who}`,
    hint: 'Stop that daemon with `baton down`, or use another state folder (BATON_STATE_DIR).',
  };
}

function folderUnusable(message: string): FolderLock {
  const hint = 'Set BATON_STATE_DIR to a folder of your own.';
  return { ok: false, isTaken: false, error: { code: 'bad-state-folder', message, hint } };
}

export type Ownership =
  | { readonly kind: 'ours' }
  | { readonly kind: 'lost' }
  /** The record could not be read, which proves nothing. The daemon may be out of descriptors. */
  | { readonly kind: 'unknown'; readonly error: Error };

export function readOwnership(
  record: string,
  pid: number = process.pid,
  read: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): Ownership {
  let text: string;
  try {
    text = read(record);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code: unknown = 'code' in error ? error.code : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'lost' } : { kind: 'unknown', error };
  }
  return fieldsInJson(text)['pid'] === pid ? { kind: 'ours' } : { kind: 'lost' };
}
