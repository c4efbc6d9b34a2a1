import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes a folder in which no process works any more. One may have left folders that it had closed to everybody, itself included. */
export function removeTree(folder: string): void {
  try {
    rmSync(folder, REMOVE);
  } catch {
    open(folder);
    rmSync(folder, REMOVE);
  }
}

const REMOVE = { recursive: true, force: true } as const;

function open(folder: string): void {
  try {
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) open(join(folder, entry.name));
  } catch {
    // It belongs to another user: the removal itself reports that.
  }
}
