import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { platformConfig } from '../own/inspection-folder.ts';
import { renderOwnConfig } from '../own/own-repository.ts';
import { discardAgentFiles, isRealFolder } from './agent-files.ts';
import { importFolder } from './import-commits.ts';
import { HOOKS_AT, OBJECTS_AT } from './mounts.ts';
import { renderFileSettings, renderPrivateConfig } from './private-config.ts';
import { isInside, type UserRepository } from './user-repository.ts';

/**
 * Builds the git directory of a session from the user's repository. No process of a session is running, but an earlier
 * one may have left anything in the folder. So nothing is written through it: new files are made beside it and moved
 * in, entry by entry. Objects, stashes and the reflog of HEAD stay.
 */
export function buildFolder(git: PrivateGit, repository: UserRepository, packedRefs: string): void {
  const { folder } = git;
  const [fresh, gitDir] = [join(folder, 'fresh'), join(folder, 'git')];
  rmSync(fresh, { recursive: true, force: true });
  writeFresh(fresh, git, repository, packedRefs);
  makeRealFolder(gitDir);
  for (const name of readdirSync(gitDir)) {
    const isKept = KEPT.has(name) && isRealFolder(join(gitDir, name));
    if (!isKept) discardAgentFiles(join(gitDir, name), join(folder, 'old'));
  }
  for (const name of readdirSync(fresh)) renameSync(join(fresh, name), join(gitDir, name));
  const logs = join(gitDir, 'logs');
  // Git creates this folder at the first commit, but the supervisor watches it from the start.
  makeRealFolder(logs);
  keepOnly(folder, logs, ['HEAD', 'refs']);
  keepOnly(folder, join(logs, 'refs'), ['stash']);
  writeAlternates(git);
}

const KEPT: ReadonlySet<string> = new Set(['objects', 'logs', 'modules', 'lfs']);

/** Rewritten each time, because the user's repository or an earlier session may have changed the list of alternates. */
export function writeAlternates({ folder, objects, isUnmounted }: PrivateGit): void {
  const store = join(folder, 'git', 'objects');
  makeRealFolder(store);
  makeRealFolder(join(store, 'pack'));
  discardAgentFiles(join(store, 'info'), join(folder, 'old'));
  mkdirSync(join(store, 'info'));
  writeFileSync(
    join(store, 'info', 'alternates'),
    objects.map((path, index) => `${isUnmounted === true ? path : `${OBJECTS_AT}/${index}`}\n`).join(''),
  );
}

/** Builds Baton's own git directory beside the private one, for imports and for the worktree's index. */
export function buildImportFolder(git: PrivateGit, { at, commonDir, settings }: UserRepository): void {
  const { gitDir } = importFolder(git);
  for (const name of ['objects/pack', 'refs', 'info']) mkdirSync(join(gitDir, name), { recursive: true, mode: 0o700 });
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  const config = renderOwnConfig(git.format, { bare: false }) + platformConfig + renderFileSettings(settings);
  writeFileSync(join(gitDir, 'config'), config);
  copyIfThere(join(commonDir, 'info', 'attributes'), join(gitDir, 'info', 'attributes'));
  copyIfThere(join(at, 'info', 'sparse-checkout'), join(gitDir, 'info', 'sparse-checkout'));
  copyIfThere(join(commonDir, 'shallow'), join(gitDir, 'shallow'));
}

/**
 * Prepares the hooks that the session sees. Links from the hooks folder to other folders would dangle in the sandbox,
 * so a folder with links is copied.
 */
export function prepareHooks(folder: string, { hooksPath, worktree, at }: UserRepository): string | null {
  if (hooksPath === null || !isAbsolute(hooksPath)) return null;
  if (isInside(worktree, hooksPath) && !isInside(at, hooksPath)) return null;
  const names = readdirSync(hooksPath);
  if (!names.some((name) => lstatSync(join(hooksPath, name)).isSymbolicLink())) return hooksPath;
  const copies = join(folder, 'hooks');
  rmSync(copies, { recursive: true, force: true });
  mkdirSync(copies);
  for (const name of names) {
    const found = statSync(join(hooksPath, name), { throwIfNoEntry: false });
    if (found?.isFile() === true) copyFileSync(join(hooksPath, name), join(copies, name));
    else if (found?.isDirectory() === true && !lstatSync(join(hooksPath, name)).isSymbolicLink())
      cpSync(join(hooksPath, name), join(copies, name), { recursive: true });
  }
  return copies;
}

function writeFresh(fresh: string, git: PrivateGit, repository: UserRepository, packedRefs: string): void {
  const { at, commonDir, format, worktree, settings, hooksPath } = repository;
  const hooks = git.hooks === null ? (hooksPath ?? '/dev/null') : git.isUnmounted === true ? git.hooks : HOOKS_AT;
  for (const name of ['refs/heads', 'refs/tags', 'info']) mkdirSync(join(fresh, name), { recursive: true });
  writeFileSync(join(fresh, 'HEAD'), `${repository.head}\n`);
  writeFileSync(join(fresh, 'config'), renderPrivateConfig({ format, worktree, hooksPath: hooks, settings }));
  writeFileSync(join(fresh, 'packed-refs'), packedRefs);
  for (const [name, target] of repository.symbolic) {
    mkdirSync(dirname(join(fresh, name)), { recursive: true });
    writeFileSync(join(fresh, name), `ref: ${target}\n`);
  }
  for (const name of ['exclude', 'attributes']) copyIfThere(join(commonDir, 'info', name), join(fresh, 'info', name));
  copyIfThere(join(at, 'info', 'sparse-checkout'), join(fresh, 'info', 'sparse-checkout'));
  copyIfThere(join(commonDir, 'shallow'), join(fresh, 'shallow'));
  for (const name of readdirSync(at))
    if (name === 'index' || name.startsWith('sharedindex.')) copyIndex(join(at, name), join(fresh, name));
}

function copyIfThere(from: string, to: string): void {
  rmSync(to, { force: true });
  if (existsSync(from)) copyFileSync(from, to, constants.COPYFILE_FICLONE);
}

/** Keeps the original's time, because git re-checks files that changed at the same time as the index. */
function copyIndex(from: string, to: string): void {
  const { mtimeMs } = statSync(from);
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  utimesSync(to, Math.floor(mtimeMs) / 1000, Math.floor(mtimeMs) / 1000);
}

function keepOnly(folder: string, path: string, names: readonly string[]): void {
  if (!isRealFolder(path)) return;
  makeRealFolder(path);
  for (const name of readdirSync(path))
    if (!names.includes(name)) discardAgentFiles(join(path, name), join(folder, 'old'));
}

function makeRealFolder(path: string): void {
  if (!isRealFolder(path)) rmSync(path, { force: true });
  mkdirSync(path, { recursive: true });
  // An agent may have removed its own permissions.
  chmodSync(path, 0o755);
}
