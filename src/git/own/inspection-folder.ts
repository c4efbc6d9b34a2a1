import { copyFile, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OwnGitFolder } from '../run-git.ts';
import { type ObjectFormat, renderOwnConfig } from './own-repository.ts';
import { quotedPath } from './transfer-pack.ts';

export interface InspectedWorktree {
  /** Baton's state folder. The temporary folder is unsuitable, because agents can write there. */
  readonly stateDir: string;
  readonly gitDir: string;
  readonly worktree: string;
  readonly format: ObjectFormat;
  /** `objects` folders, most trusted first. */
  readonly objects: readonly string[];
  /** Whether git uses a copy of the index or the index itself. */
  readonly index: 'copy' | 'itself';
}

/**
 * A temporary git folder for work on a user's worktree without its configuration: index and files are the worktree's,
 * everything else is Baton's. Filters, hooks, file system monitors and external attributes have no effect.
 */
export async function withInspectionFolder<T>(
  { stateDir, gitDir, worktree, format, objects, index }: InspectedWorktree,
  use: (place: OwnGitFolder & { readonly worktree: string }) => Promise<T>,
): Promise<T> {
  await mkdir(inspectionFolders(stateDir), { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(inspectionFolders(stateDir), 'l-'));
  try {
    for (const name of ['objects', 'refs', 'info']) await mkdir(join(folder, name));
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
    await writeFile(join(folder, 'config'), renderOwnConfig(format, { bare: false }) + platformConfig);
    // The shared part of a split index is expected in the git folder.
    for (const name of await readdir(gitDir)) {
      if (name.startsWith('sharedindex.')) await copyFile(join(gitDir, name), join(folder, name));
    }
    if (index === 'copy') await copyIndex(join(gitDir, 'index'), join(folder, 'index'));
    const [first = join(folder, 'objects'), ...others] = objects;
    const env = {
      GIT_INDEX_FILE: join(index === 'copy' ? folder : gitDir, 'index'),
      GIT_OBJECT_DIRECTORY: first,
      ...(others.length === 0 ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: others.map(quotedPath).join(':') }),
    };
    return await use({ gitDir: folder, worktree, env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of a killed daemon. No other daemon may be running. */
export async function removeInspectionFolders(stateDir: string): Promise<void> {
  await rm(inspectionFolders(stateDir), { recursive: true, force: true });
}

function inspectionFolders(stateDir: string): string {
  return join(stateDir, 'look');
}

/** The file system settings that `git init` would detect. */
export const platformConfig: string =
  '[core]\n\tsplitIndex = false\n' +
  (process.platform === 'darwin' ? '\tignoreCase = true\n\tprecomposeUnicode = true\n' : '');

/** Keeps the original's time, because git re-checks files changed in the same second as the index. */
async function copyIndex(from: string, to: string): Promise<void> {
  const before = await stat(from).catch(() => null);
  if (before === null) return;
  await copyFile(from, to);
  await utimes(to, Math.floor(before.mtimeMs / 1000), Math.floor(before.mtimeMs / 1000));
}
