import {
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { gitFields, git as runGit, type OwnGitFolder } from '../run-git.ts';
import { importFolder } from './import-commits.ts';

/**
 * Changes the index of the worktree with Baton's configuration, so no filter, hook or monitor runs. The change is made
 * in a copy, in which submodules are then marked, and which replaces the index in one step. False if that failed, or if
 * another program has changed the index in the meantime.
 */
export async function rewriteIndex(
  git: PrivateGit,
  change: (cwd: OwnGitFolder) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const own = importFolder(git);
  // Git expects the shared part of a split index in the git folder.
  for (const name of readdirSync(git.at))
    if (name.startsWith('sharedindex.')) copyFileSync(join(git.at, name), join(own.gitDir, name));
  const [index, draft] = [join(git.at, 'index'), join(own.gitDir, 'index')];
  const before = stampOf(index);
  if (existsSync(index)) copyWithTime(index, draft);
  else rmSync(draft, { force: true });
  const env = { GIT_INDEX_FILE: draft, GIT_OBJECT_DIRECTORY: join(git.commonDir, 'objects') };
  const cwd = { ...own, worktree: git.worktree, env };
  // In a person's own checkout, submodules stay visible.
  const isOwnCheckout = git.at === join(git.worktree, '.git');
  if (!(await change(cwd)) || !(isOwnCheckout || (await markSubmodules(cwd, 'assume-unchanged')))) return false;
  return placeIndex(draft, index, before);
}

/**
 * With this mark git treats submodules as unchanged. Otherwise `git status` would run git in each submodule's folder,
 * with a configuration that the session can write: its filters and monitors would run outside the sandbox, as the
 * person who typed the command or whose editor ran it. A person can still add a submodule by name.
 */
export async function markSubmodules(
  cwd: OwnGitFolder & { readonly env: { readonly GIT_INDEX_FILE: string } },
  mark: 'assume-unchanged' | 'no-assume-unchanged',
): Promise<boolean> {
  if (!hasSubmodules(cwd.env.GIT_INDEX_FILE)) return true;
  const listed = await gitFields(['ls-files', '--stage', '-z'], { cwd, maxBytes: MOST_BYTES });
  if (!listed.ok) return false;
  const paths = listed.value
    .filter((line) => line.startsWith('160000 '))
    .map((line) => line.slice(line.indexOf('\t') + 1));
  if (paths.length === 0) return true;
  const input = paths.map((path) => `${path}\0`).join('');
  return (await runGit(['update-index', `--${mark}`, '-z', '--stdin'], { cwd, input })).ok;
}

/** Whether an index may have submodules. The bytes of their mode may also occur elsewhere in it. */
export function hasSubmodules(index: string): boolean {
  return existsSync(index) && readFileSync(index).includes(SUBMODULE_MODE);
}

const SUBMODULE_MODE = Buffer.from([0x00, 0x00, 0xe0, 0x00]);
const MOST_BYTES = 256 * 1024 * 1024;

/** Uses git's own lock, held for a moment. */
function placeIndex(draft: string, index: string, before: string): boolean {
  const lock = `${index}.lock`;
  try {
    copyWithTime(draft, lock, constants.COPYFILE_EXCL);
  } catch {
    return false;
  }
  const isUnchanged = stampOf(index) === before;
  if (isUnchanged) renameSync(lock, index);
  else rmSync(lock);
  return isUnchanged;
}

function stampOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`;
}

/** Keeps the time, because git re-checks files that changed at the same time as the index. */
function copyWithTime(from: string, to: string, flags = 0): void {
  copyFileSync(from, to, flags | constants.COPYFILE_FICLONE);
  const seconds = Math.floor(statSync(from).mtimeMs) / 1000;
  utimesSync(to, seconds, seconds);
}
