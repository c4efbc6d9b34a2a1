import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder below the main worktree that holds Baton's worktrees. */
export const WORKTREES = '.worktrees';

/**
 * Keeps the folder of worktrees out of git's sight. The repository's own exclude file does that for all its worktrees and
 * is nobody's to commit; the user's `.gitignore` is left alone.
 */
export async function hideWorktrees(commonDir: string): Promise<void> {
  const folder = join(commonDir, 'info');
  const path = join(folder, 'exclude');
  const line = `/${WORKTREES}/`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before.split(/\r?\n/).includes(line)) return;
  await mkdir(folder, { recursive: true });
  // Appending in one call: two who do it at once write the line twice, and that is harmless.
  await appendFile(path, `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`);
}
