import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { filterConfig } from './plan/filters/filters.ts';
import type { FilteredCopy } from './plan/home-rules.ts';

/** Writes the copies of a plan. Returns a note for each that could not be written. */
export function writeCopies(copies: readonly FilteredCopy[]): string[] {
  return copies.flatMap(({ from, folder, path, filter }) => {
    try {
      writeBelow(folder, path, filterConfig(filter, readFileSync(from, 'utf8')));
      return [];
    } catch (error) {
      return [`The session has no copy of ${from}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}

/**
 * Writes a file in a folder that sessions can write, without following a link that a session put there: each folder on
 * the path is opened from its parent.
 */
function writeBelow(folder: string, path: string, text: string): void {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  let opened = openFolder(folder);
  try {
    for (const part of parts) {
      const next = `/proc/self/fd/${opened}/${part}`;
      try {
        mkdirSync(next, { mode: 0o700 });
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
      const below = openFolder(next);
      closeSync(opened);
      opened = below;
    }
    const file = `/proc/self/fd/${opened}/${name}`;
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } finally {
    closeSync(opened);
  }
}

function openFolder(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}
