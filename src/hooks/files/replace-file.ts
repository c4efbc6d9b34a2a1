import { closeSync, existsSync, fchmodSync, fchownSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { renameSync, rmdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Where the next text of a file is written before it takes the file's place. Named, so that a later run can clear it away. */
export function draftPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.baton-draft`);
}

/** A reader, and a crash, sees the old or the new text and never a part of it. Mode and owner stay what they were. */
export function replaceFile(path: string, text: string): void {
  const draft = draftPath(path);
  const before = statSync(path, { throwIfNoEntry: false });
  const file = openSync(draft, 'w', before === undefined ? 0o600 : before.mode & 0o777);
  try {
    if (before !== undefined) keepOwner(file, before);
    for (let bytes = Buffer.from(text); bytes.length > 0;) bytes = bytes.subarray(writeSync(file, bytes));
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}

/** The folders above a file that are not there, the outermost first. */
export function findMissingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  return missing;
}

export function makeFoldersFor(path: string): void {
  for (const folder of findMissingFolders(path)) mkdirSync(folder, { mode: 0o700 });
}

/** Those that are empty; others have found a use for the rest. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Somebody has put something into it, or it has gone.
    }
  }
}

function keepOwner(file: number, { mode, uid, gid }: { mode: number; uid: number; gid: number }): void {
  fchmodSync(file, mode & 0o777);
  try {
    fchownSync(file, uid, gid);
  } catch {
    // Only root can give a file to somebody else; whoever may write it here owns the folder.
  }
}

function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
