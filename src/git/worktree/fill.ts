import { cp, lstat, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { findRepository } from '../repository.ts';
import { git, type GitResult } from '../run-git.ts';
import { excludeFromGit, literalPattern } from './ignore-rules.ts';
import { pathExists, readDigest } from './read-inside.ts';
import { readWorktreeNote, writeWorktreeNote } from './worktree.ts';

export interface FillRequest {
  readonly copy: readonly string[];
  readonly link: readonly string[];
}

/** The files that Baton put into a worktree: digests of copies by path, and links. */
export interface FilledFiles {
  readonly copied: Readonly<Record<string, string>>;
  readonly linked: readonly string[];
}

/**
 * Adds the configured files. Skips existing files, tracked files and those the repository lacks, and hides the rest
 * from git. Returns the added files.
 */
export async function fillWorktree(worktree: string, { copy, link }: FillRequest): Promise<GitResult<FilledFiles>> {
  const found = await findRepository(worktree);
  if (!found.ok) return found;
  const { mainTop, gitDir, commonDir } = found.value;
  const note = readWorktreeNote(gitDir);
  const copied: Record<string, string> = {};
  const linked: string[] = [];
  for (const path of [...copy, ...link].filter(isRelativePath)) {
    const [from, to] = [join(mainTop, path), join(worktree, path)];
    if (!(await pathExists(from)) || (await pathExists(to)) || (await isTracked(worktree, path))) continue;
    if ((await isBehindLink(mainTop, path)) || (await isBehindLink(worktree, path))) continue;
    await mkdir(dirname(to), { recursive: true });
    if (copy.includes(path)) {
      await cp(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
      copied[path] = (await readDigest(to)) ?? '';
    } else {
      await symlink(from, to);
      linked.push(path);
    }
    await hide(worktree, commonDir, path);
  }
  const all = { copied: { ...note.copied, ...copied }, linked: [...new Set([...note.linked, ...linked])] };
  writeWorktreeNote(gitDir, { ...note, ...all });
  return { ok: true, value: { copied, linked } };
}

/** A folder that a session or a branch has replaced by a link leads out of the repository. */
async function isBehindLink(top: string, path: string): Promise<boolean> {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const found = await lstat(join(top, folder)).catch(() => undefined);
    if (found?.isSymbolicLink() === true) return true;
  }
  return false;
}

/** A pattern such as `node_modules/` does not match a link of that name. */
async function hide(worktree: string, commonDir: string, path: string): Promise<void> {
  const ignored = await git(['check-ignore', '--quiet', '--', path], { cwd: worktree, answers: [1] });
  if (ignored.ok && ignored.value.code === 0) return;
  await excludeFromGit(commonDir, literalPattern(path));
}

async function isTracked(worktree: string, path: string): Promise<boolean> {
  const listed = await git(['ls-files', '-z', '--', path], { cwd: worktree });
  return listed.ok && listed.value.stdout !== '';
}
