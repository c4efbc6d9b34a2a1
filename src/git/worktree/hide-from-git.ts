import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Keeps something out of git's sight. The repository's own exclude file does that for all its worktrees and is nobody's to
 * commit; the user's `.gitignore` is left alone.
 */
export async function excludeFromGit(commonDir: string, ...patterns: readonly string[]): Promise<void> {
  const folder = join(commonDir, 'info');
  const path = join(folder, 'exclude');
  const before = await readFile(path, 'utf8').catch(() => '');
  const known = new Set(before.split(/\r?\n/));
  const missing = patterns.filter((pattern) => !known.has(pattern));
  if (missing.length === 0) return;
  await mkdir(folder, { recursive: true });
  // Appending in one call: two who do it at once write the line twice, and that is harmless.
  const start = before === '' || before.endsWith('\n') ? '' : '\n';
  await appendFile(path, `${start}${missing.map((pattern) => `${pattern}\n`).join('')}`);
}
