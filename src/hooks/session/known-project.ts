import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readFileIfPresent } from '../../api/files.ts';
import { readProjectList } from '../../api/project-list.ts';

/** Hooks for all sessions run in every folder; a repository without Baton must not become a project. */
export function isKnownProject(stateDir: string, cwd: string): boolean {
  const top = findRepositoryTop(cwd);
  if (top === undefined) return false;
  if (existsSync(join(top, 'baton.toml')) || existsSync(join(top, '.baton'))) return true;
  const main = mainTopOf(top);
  return knownPaths(stateDir).some((path) => isSamePlace(path, top) || isSamePlace(path, main));
}

export function findRepositoryTop(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** A worktree's git folder names the shared one, which is in the main worktree. */
function mainTopOf(top: string): string {
  // A folder reads as empty.
  const link = readFileIfPresent(join(top, '.git'));
  const gitDir = resolve(top, link.replace(/^gitdir:\s*/, '').trim());
  const common = readFileIfPresent(join(gitDir, 'commondir')).trim();
  return link === '' || common === '' ? top : dirname(resolve(gitDir, common));
}

function knownPaths(stateDir: string): readonly string[] {
  return [...readProjectList(stateDir).values()].map(({ path }) => path);
}

function isSamePlace(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
