import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stateFiles } from '../../api/state-folder.ts';

/**
 * Whether the repository around a folder is a project of Baton. Hooks for all sessions run in every folder; a
 * repository without Baton must not become a project.
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

/** A worktree's git folder names the shared one, which is in the main worktree. */
function mainTopOf(top: string): string {
  try {
    const dot = join(top, '.git');
    if (statSync(dot).isDirectory()) return top;
    const gitDir = resolve(
      top,
      readFileSync(dot, 'utf8')
        .replace(/^gitdir:\s*/, '')
        .trim(),
    );
    return dirname(resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim()));
  } catch {
    return top;
  }
}

function knownPaths(stateDir: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(readFileSync(stateFiles(stateDir).projectList, 'utf8'));
    return typeof list === 'object' && list !== null
      ? Object.values(list).filter((path) => typeof path === 'string')
      : [];
  } catch {
    return [];
  }
}

function isSamePlace(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
