import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { isGitRef } from '../protocol/text/text-format.ts';
import { findKnownFolders, findKnownMainTop, type GitFolders, keepFolders, keepMainTop } from './known-folders.ts';
import { DAMAGED_HINT } from './own/transfer-pack.ts';
import {
  attempt,
  git,
  type GitFailure,
  gitFailure,
  type GitLocation,
  type GitOptions,
  type GitResult,
  gitText,
  unwrap,
} from './run-git.ts';

export interface Repository extends GitFolders {
  /** The top of the main worktree, which contains Baton's worktrees. */
  readonly mainTop: string;
}

export async function findRepository(
  folder: string,
  options: Pick<GitOptions, 'timeoutMs'> = {},
): Promise<GitResult<Repository>> {
  return attempt(async () => {
    const folders = unwrap(await findGitFolders(folder, options));
    const { top, gitDir, commonDir } = folders;
    if (top === gitDir) return { ...folders, mainTop: commonDir };
    const mainTop = gitDir === commonDir ? topOf(commonDir) : await findMainTop(folder);
    return { ...folders, mainTop: mainTop ?? commonDir };
  });
}

/** Like `findRepository`, but without the main worktree, for which git needs a second process in a linked worktree. */
export async function findGitFolders(
  folder: string,
  options: Pick<GitOptions, 'timeoutMs'> = {},
): Promise<GitResult<GitFolders>> {
  const places = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir', '--show-toplevel'];
  return attempt(async () => {
    const known = findKnownFolders(folder);
    if (known !== undefined) return known;
    const found = await gitText(places, { ...options, cwd: folder });
    if (!found.ok && NO_WORKTREE.test(found.problem.message)) return findBareRepository(folder, found);
    const [gitDir, commonDir, top, ...more] = unwrap(found).split('\n');
    if (gitDir === undefined || commonDir === undefined || top === undefined || more.length > 0) return oddPath(folder);
    keepFolders(folder, { top, gitDir, commonDir });
    return { top, gitDir, commonDir };
  });
}

const NO_WORKTREE = /must be run in a work tree/;

async function findBareRepository(folder: string, noWorktree: GitFailure): Promise<GitFolders> {
  const places = ['rev-parse', '--path-format=absolute', '--is-bare-repository', '--git-dir', '--git-common-dir'];
  const [bare, gitDir, commonDir, ...more] = unwrap(await gitText(places, { cwd: folder })).split('\n');
  // The folder is the git folder of a repository that has worktrees.
  if (bare !== 'true') return unwrap(noWorktree);
  if (gitDir === undefined || commonDir === undefined || more.length > 0) return oddPath(folder);
  return { top: gitDir, gitDir, commonDir };
}

/** Derives the top folder as git does. */
function topOf(commonDir: string): string {
  return commonDir.replace(/\/\.git$/, '');
}

/** The checked-out branch, even without a commit; null if HEAD is detached. */
export async function findCurrentBranch(folder: string): Promise<GitResult<string | null>> {
  const head = await git(['symbolic-ref', '--quiet', 'HEAD'], { cwd: folder, answers: [1] });
  if (!head.ok) return head;
  const ref = head.value.stdout.trim();
  return { ok: true, value: ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null };
}

export interface MainBranchHead {
  readonly name: string;
  readonly sha: string;
  readonly ref: string;
}

/**
 * Finds the main branch: the configured one, else the remote's HEAD, else `main` or `master`. The local branch
 * determines the commit. The remote copy counts only without a local branch, because an agent may write `refs/remotes`
 * and so choose what its work is compared with.
 */
export async function findMainBranch(folder: string, configured?: string): Promise<GitResult<MainBranchHead>> {
  if (configured !== undefined && !isGitRef(configured)) {
    return gitFailure(
      'git/bad-name',
      `not a branch name: '${configured}'`,
      'Use a name that git accepts: git check-ref-format --branch NAME',
    );
  }
  const found = configured === undefined ? [await remoteHead(folder), 'main', 'master'] : [configured];
  const names = found.filter((name) => name !== null);
  for (const name of names) {
    for (const ref of [`refs/heads/${name}`, remoteCopy(name)]) {
      const sha = await findSha(folder, ref);
      if (sha !== null) return { ok: true, value: { name, sha, ref } };
    }
  }
  for (const name of names) {
    const ref = await gitText(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`], { cwd: folder });
    if (!ref.ok) continue;
    const damage = `commit ${ref.value}, where branch '${name}' is, is missing or damaged in the repository`;
    return gitFailure('git/damaged-object', damage, DAMAGED_HINT);
  }
  const message = configured === undefined ? 'no main branch with a commit' : `no branch '${configured}' with a commit`;
  const hint = 'Make a first commit on main, or name the main branch in baton.toml.';
  return gitFailure('git/no-main-branch', message, hint);
}

/**
 * Returns the main branch at its remote copy if that is ahead, after a merge elsewhere. Agents can write the copy, so
 * no gate or measure may use it.
 */
export async function findNewestMain(folder: string, configured?: string): Promise<GitResult<MainBranchHead>> {
  const main = await findMainBranch(folder, configured);
  return main.ok ? findNewerMain(folder, main.value) : main;
}

/** Like `findNewestMain`, for a known local main branch. */
export async function findNewerMain(folder: string, main: MainBranchHead): Promise<GitResult<MainBranchHead>> {
  const { name, sha } = main;
  const theirs = await findSha(folder, remoteCopy(name));
  if (theirs === null) return { ok: true, value: main };
  const behind = await git(['merge-base', '--is-ancestor', sha, theirs], { cwd: folder, answers: [1] });
  const isAhead = behind.ok && behind.value.code === 0;
  return { ok: true, value: isAhead ? { name, sha: theirs, ref: remoteCopy(name) } : main };
}

/** The full id of the commit that a name refers to; null if there is none. */
export async function findSha(folder: GitLocation, name: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const sha = await gitText(args, { cwd: folder });
  return sha.ok && /^[0-9a-f]{40,64}$/.test(sha.value) ? sha.value : null;
}

async function findMainTop(folder: string): Promise<string | undefined> {
  const known = findKnownMainTop(folder);
  if (known !== undefined) return known;
  const list = unwrap(await git(['worktree', 'list', '--porcelain', '-z'], { cwd: folder })).stdout;
  const lines = (list.split('\0\0')[0] ?? '').split('\0');
  if (lines.includes('bare')) return undefined;
  const mainTop = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length);
  if (mainTop !== undefined) keepMainTop(folder, mainTop);
  return mainTop;
}

async function remoteHead(folder: string): Promise<string | null> {
  const head = await git(['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'], { cwd: folder, answers: [1] });
  const ref = head.ok ? head.value.stdout.trim() : '';
  return ref.startsWith('refs/remotes/origin/') ? ref.slice('refs/remotes/origin/'.length) : null;
}

function remoteCopy(name: string): string {
  return `refs/remotes/origin/${name}`;
}

function oddPath(folder: string): never {
  const message = `the path of the repository of '${folder}' has a line break`;
  const hint = 'Move the repository to a folder without line breaks in its name.';
  return unwrap(gitFailure('git/odd-path', message, hint));
}

/** A readable id, equal for all worktrees: the folder's name and a hash of the real path of the shared git folder. */
export function projectId({ mainTop, commonDir }: Pick<Repository, 'mainTop' | 'commonDir'>): string {
  const slug = basename(mainTop)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(realpathSync(commonDir)).digest('hex').slice(0, 8);
  return slug === '' ? hash : `${slug}-${hash}`;
}
