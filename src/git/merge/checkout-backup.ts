import { link, lstat, mkdir, mkdtemp, readdir, readlink, realpath, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { copyFile, constants } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface TouchedPath {
  readonly path: string;
  /** The move adds the file, so there is nothing to back up. */
  readonly isNew: boolean;
}

interface BackedUpFile {
  readonly path: string;
  readonly copy: string;
}

/**
 * Backs up the files before a move, so that they can be restored on a full disk. Git replaces files instead of
 * overwriting them, so a hard link keeps the old file with its times. Without hard links the files are copied, and a
 * full disk is detected before any change.
 */
export class CheckoutBackup {
  readonly #worktree: string;
  #folder: string;
  readonly #kept: BackedUpFile[] = [];
  readonly #added: string[] = [];
  /** Folders created by the move, outermost first. */
  readonly #madeFolders = new Set<string>();

  private constructor(worktree: string, folder: string) {
    this.#worktree = worktree;
    this.#folder = folder;
  }

  /** Backs up the touched files and the index. Rejects if that fails; nothing has changed then. */
  static async keep(
    worktree: string,
    gitDir: string,
    index: string,
    touched: readonly TouchedPath[],
  ): Promise<CheckoutBackup> {
    const top = await realpath(worktree);
    await removeOld(gitDir);
    // Hard links need one file system, and the git folder may be on another.
    const isOneDisk = (await lstat(gitDir)).dev === (await lstat(top)).dev;
    if (!isOneDisk) await removeOld(top);
    const kept = new CheckoutBackup(top, await mkdtemp(join(isOneDisk ? gitDir : top, PREFIX)));
    try {
      for (const { path, isNew } of touched) await (isNew ? kept.#noteNew(path) : kept.#keep(path, join(top, path)));
      await kept.#keep(undefined, index);
      return kept;
    } catch (error) {
      await kept.discard();
      throw error;
    }
  }

  /** Restores everything. Returns the paths that could not be restored. */
  async restore(index: string): Promise<readonly string[]> {
    const failed: string[] = [];
    for (const path of this.#added) await this.#remove(path).catch(() => failed.push(path));
    for (const folder of [...this.#madeFolders].toReversed())
      await rmdir(join(this.#worktree, folder)).catch(() => undefined);
    for (const { path, copy } of this.#kept) {
      const place = path === '' ? index : join(this.#worktree, path);
      await restoreCopy(copy, place).catch(() => failed.push(path === '' ? index : path));
    }
    if (failed.length === 0) await this.discard();
    else await this.#leave();
    return failed;
  }

  get folder(): string {
    return this.#folder;
  }

  async discard(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Renames the backup folder, so that the next move does not delete unrestored files. */
  async #leave(): Promise<void> {
    const left = join(dirname(this.#folder), basename(this.#folder).replace(PREFIX, LEFT_PREFIX));
    await rename(this.#folder, left).then(
      () => (this.#folder = left),
      () => undefined,
    );
  }

  async #keep(path: string | undefined, file: string): Promise<void> {
    const found = await lstat(file).catch(() => undefined);
    // Git does not touch submodule folders. Missing files stay missing.
    if (found === undefined || found.isDirectory()) return;
    if (path !== undefined && !(await this.#isInside(path))) return;
    const copy = join(this.#folder, String(this.#kept.length));
    if (found.isSymbolicLink()) await symlink(await readlink(file), copy);
    else await link(file, copy).catch(async () => copyFile(file, copy, constants.COPYFILE_FICLONE));
    this.#kept.push({ path: path ?? '', copy });
  }

  async #noteNew(path: string): Promise<void> {
    if ((await lstat(join(this.#worktree, path)).catch(() => undefined)) !== undefined)
      return this.#keep(path, join(this.#worktree, path));
    this.#added.push(path);
    const parts = path.split('/').slice(0, -1);
    for (let end = 1; end <= parts.length; end += 1) {
      const folder = parts.slice(0, end).join('/');
      const found = await lstat(join(this.#worktree, folder)).catch(() => undefined);
      if (found?.isDirectory() !== true) this.#madeFolders.add(folder);
    }
  }

  async #remove(path: string): Promise<void> {
    const file = join(this.#worktree, path);
    const found = await lstat(file).catch(() => undefined);
    if (found !== undefined && (await this.#isInside(path))) await rm(file, { force: true });
  }

  /** Whether the path is in the checkout. Does not follow links, because their targets are not part of it. */
  async #isInside(path: string): Promise<boolean> {
    const parent = await realpath(dirname(join(this.#worktree, path))).catch(() => undefined);
    return parent === dirname(join(this.#worktree, path));
  }
}

const PREFIX = 'baton-undo-';
const LEFT_PREFIX = 'baton-left-';

async function restoreCopy(copy: string, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  const found = await lstat(place).catch(() => undefined);
  if (found?.isDirectory() === true) await rmdir(place);
  // Renaming between two names of one file does nothing and would leave both.
  const kept = await lstat(copy);
  if (found?.ino === kept.ino && found.dev === kept.dev) return rm(copy);
  await rename(copy, place);
}

/** Removes backups of a daemon that was killed during a move. */
async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (OLD.test(name)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Only the names that `mkdtemp` creates: in a worktree a longer name may be the user's. */
const OLD = new RegExp(`^${PREFIX}[A-Za-z0-9]{6}$`);
