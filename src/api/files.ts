import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces the file in one step: a reader sees the old or the new text, never a part, even after a crash. */
export function writeFileAtomically(path: string, text: string): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, path);
}

/** Makes created, renamed and removed names in a folder durable. */
export function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Returns an empty list if the folder cannot be read. */
export function listFolderIfPresent(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns an empty text if the file cannot be read. */
export function readFileIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
