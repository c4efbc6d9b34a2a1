import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readFileIfPresent } from '../../api/files.ts';
import { readProjectList } from '../../api/project-list.ts';

/**
 * Reports whether the folder's repository uses Baton. User-wide hooks run in every folder, and must not create
 * projects.
 */
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

/**
 * The top folder of the main worktree. The git folder of a linked worktree names the shared one, which is in the main
 * worktree.
 */
function mainTopOf(top: string): string {
  // Undefined if `.git` is a folder.
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
