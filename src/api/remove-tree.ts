import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes a folder in which no process runs any more. A process may have left folders without permissions, even for
 * their owner.
 */
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
    // The folder belongs to another user. The removal reports that.
  }
}
