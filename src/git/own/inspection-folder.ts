import { copyFile, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OwnGitFolder } from '../run-git.ts';
import { type ObjectFormat, renderOwnConfig } from './own-repository.ts';
import { quotedPath } from './transfer-pack.ts';

export interface InspectedWorktree {
  /** Baton's state folder: the git folder is made there, because agents can write in the system's temporary folder. */
  readonly stateDir: string;
  /** The git folder of the worktree. */
  readonly gitDir: string;
  readonly worktree: string;
  readonly format: ObjectFormat;
  /** `objects` folders, the most trusted first. */
  readonly objects: readonly string[];
  /** Whether git works on a copy of the index, or on the index itself. */
  readonly index: 'copy' | 'itself';
}

/**
 * A git folder for work on a user's worktree without its configuration: the index and the files are the worktree's, all else is Baton's.
 * Neither filters, hooks, file system monitors nor attributes outside of the files have any effect. It is removed afterwards.
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
    // An index may be split in two; the part that is shared is looked for in the git folder.
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

/** Removes the folders that a daemon left behind when it was killed. No other daemon may be running. */
export async function removeInspectionFolders(stateDir: string): Promise<void> {
  await rm(inspectionFolders(stateDir), { recursive: true, force: true });
}

function inspectionFolders(stateDir: string): string {
  return join(stateDir, 'look');
}

/** What `git init` would find out about the file system. */
export const platformConfig: string =
  '[core]\n\tsplitIndex = false\n' +
  (process.platform === 'darwin' ? '\tignoreCase = true\n\tprecomposeUnicode = true\n' : '');

/**
 * With the time of the original: git looks closer at files that were changed in the second in which the index was written, and an index
 * that seems newer than it is would be believed.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const before = await stat(from).catch(() => null);
  if (before === null) return;
  await copyFile(from, to);
  await utimes(to, Math.floor(before.mtimeMs / 1000), Math.floor(before.mtimeMs / 1000));
}
