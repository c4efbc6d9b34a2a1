import { readdirSync, readFileSync } from 'node:fs';

/** The names in a folder; none if it cannot be read. */
export function listFolderIfPresent(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The text of a file; empty if it cannot be read. */
export function readFileIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
