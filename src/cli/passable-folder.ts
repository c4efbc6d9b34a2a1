import { chmodSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a temporary folder that other users may pass through but not list. Sessions in the sandbox `user` run as
 * another user, and their worktrees are in it.
 */
export function makePassableFolder(prefix: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  chmodSync(folder, 0o711);
  return folder;
}
