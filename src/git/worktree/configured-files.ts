import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { readDigest } from './digest-of.ts';
import { findRepository } from '../repository.ts';
import { git, type GitResult } from '../run-git.ts';
import { readOrigin } from './origin.ts';

/**
 * Files that git ignores and that somebody said a worktree needs (`workspace.copy`, `workspace.link`), as far as this worktree has
 * something else in them than the repository has, or than Baton put there.
 */
export async function findChangedConfiguredFiles(
  worktree: string,
  { stateDir, configured = [] }: { readonly stateDir: string; readonly configured?: readonly string[] },
): Promise<GitResult<string[]>> {
  const found = await findRepository(worktree);
  if (!found.ok) return found;
  const { mainTop, gitDir } = found.value;
  const { copied, linked } = readOrigin(stateDir, gitDir);
  const own: string[] = [];
  for (const path of new Set([...configured, ...Object.keys(copied), ...linked].filter(isRelativePath))) {
    const stats = await lstat(join(worktree, path)).catch(() => null);
    // What a link leads to stays where it is.
    if (stats === null || stats.isSymbolicLink()) continue;
    const tracked = await git(['ls-files', '-z', '--', path], { cwd: worktree });
    if (!tracked.ok) return tracked;
    if (tracked.value.stdout !== '') continue;
    const now = await readDigest(join(worktree, path));
    if (now !== copied[path] && now !== (await readDigest(join(mainTop, path)))) own.push(path);
  }
  return { ok: true, value: own };
}
