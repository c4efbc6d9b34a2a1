import { createHash } from 'node:crypto';
import { cp, lstat, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gitFailure, type GitResult } from '../run-git.ts';
import { removeCheckout } from './make-checkout.ts';

/** The content of a checkout by path, folders before their files. The git folder is one entry. */
export type FileFingerprints = ReadonlyMap<string, string>;

/**
 * Fingerprints every file of a new checkout: all belong to the commit or its submodules. Kept in memory, because a
 * check can write everything in the folder, including `.git`. Undefined if a file cannot be read.
 */
export async function fingerprintFiles(folder: string): Promise<FileFingerprints | undefined> {
  const marks = new Map<string, string>();
  try {
    const walk = async (inside: string): Promise<void> => {
      const names = (await readdir(join(folder, inside))).filter((name) => name !== '.git');
      for (const name of names) {
        if (name.includes('\uFFFD')) throw new Error('the name is not UTF-8 text');
        const path = join(inside, name);
        const mark = await fingerprintOf(join(folder, path));
        marks.set(path, mark);
        if (mark === FOLDER) await walk(path);
      }
    };
    await walk('');
    return marks.set(GIT, await markOf(folder, GIT));
  } catch {
    return undefined;
  }
}

/**
 * Restores the fingerprinted files that a check has changed, from a second checkout made beside it. Files added by
 * checks, such as installed packages, stay. Without fingerprints the whole folder is recreated.
 */
export async function restoreFiles(
  folder: string,
  marks: FileFingerprints | undefined,
  make: (folder: string) => Promise<GitResult<string>>,
): Promise<GitResult<string>> {
  if (marks === undefined) return make(folder);
  if ((await findChanged(folder, marks)) === undefined) return { ok: true, value: folder };
  const fresh = freshCheckoutPath(folder);
  try {
    const made = await make(fresh);
    if (!made.ok) return made;
    // Folders come before their files, so a link in place of a folder is replaced before a file is written through it.
    for (const [path, mark] of marks) {
      const [from, to] = [join(fresh, path), join(folder, path)];
      if ((await markOf(folder, path).catch(() => GONE)) === mark) continue;
      await rm(to, { recursive: true, force: true });
      await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    }
    // The index has the times of the second checkout.
    const still = await findChanged(folder, new Map([...marks].filter(([path]) => path !== GIT)));
    return still === undefined ? { ok: true, value: folder } : cannotRestore(`'${still}' was changed again`);
  } catch (error) {
    return cannotRestore(error instanceof Error ? error.message : String(error));
  } finally {
    await removeCheckout(fresh);
  }
}

export function freshCheckoutPath(folder: string): string {
  return `${folder}.fresh`;
}

/** A check could change settings, hooks, the index or objects, which decide what git tells the next check. */
const GIT = '.git';
const FOLDER = 'folder';
const GONE = 'gone';

async function findChanged(folder: string, marks: FileFingerprints): Promise<string | undefined> {
  for (const [path, mark] of marks) if ((await markOf(folder, path).catch(() => GONE)) !== mark) return path;
  return undefined;
}

async function markOf(folder: string, path: string): Promise<string> {
  const top = join(folder, path);
  if (path !== GIT) return fingerprintOf(top);
  const names = (await readdir(top, { recursive: true })).toSorted();
  const marks = await Promise.all(names.map(async (name) => `${name} ${await fingerprintOf(join(top, name))}`));
  return createHash('sha256')
    .update([await fingerprintOf(top), ...marks].join('\n'))
    .digest('hex');
}

/** Opens only plain files: reading a pipe would never end. */
async function fingerprintOf(path: string): Promise<string> {
  const stat = await lstat(path);
  if (stat.isDirectory()) return FOLDER;
  if (stat.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (!stat.isFile()) return 'other';
  const digest = createHash('sha256').update(await readFile(path));
  return `file ${(stat.mode & 0o777).toString(8)} ${digest.digest('hex')}`;
}

function cannotRestore(why: string): GitResult<never> {
  const message = `an earlier check changed files of the commit, and they cannot be restored: ${why}`;
  return gitFailure('git/failed', message, 'Check which files the earlier checks write in their folder.');
}
