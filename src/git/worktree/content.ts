import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { findLanding } from '../reconcile/landing.ts';
import { findCurrentBranch, findRepository, findSha, type Repository } from '../repository.ts';
import { attempt, git, type GitResult, gitText, unwrap } from '../run-git.ts';
import { readOrigin } from './origin.ts';
import { pathExists, readDigest } from './read-inside.ts';
import { createSharedFacts, type SharedFacts } from './shared-facts.ts';
import { type UnhiddenFiles, type UnhiddenFilesOptions, withUnhiddenFiles } from './unhidden-files.ts';
import type { Worktree } from './worktree.ts';

/** Everything that would be lost if a worktree were removed. Of ignored files only the configured ones count. */
export interface WorktreeContent {
  readonly branch: string | null;
  readonly head: string | null;
  readonly staged: readonly string[];
  readonly unstaged: readonly string[];
  readonly untracked: readonly string[];
  /** Files that the runbook requires in a worktree and that differ here. */
  readonly configured: readonly string[];
  /** Stashes made on its branch. They stay in the repository, but would be forgotten. */
  readonly stashes: number;
  readonly underway: string | null;
  /** Commits neither on a remote nor on the main branch; 0 if there is no remote. */
  readonly unpushed: number;
  readonly unmerged: number;
}

export interface WorktreeContentOptions {
  readonly stateDir: string;
  readonly mainBranch?: string | undefined;
  readonly configured?: readonly string[];
  /**
   * The commit that Baton merged for the worktree's task, if any. Git cannot find a squashed copy of it if others have
   * changed lines beside it.
   */
  readonly landed?: string | null;
}

/** Facts about a worktree that the caller has already read. */
export interface KnownWorktree extends Pick<Worktree, 'head' | 'branch'> {
  readonly repository: Pick<Repository, 'gitDir' | 'commonDir' | 'mainTop'>;
  readonly shared: SharedFacts;
}

/** Reads everything that exists only in a worktree. No setting in it can hide files. */
export async function readWorktreeContent(
  path: string,
  guard: WorktreeContentOptions,
  known?: KnownWorktree,
): Promise<GitResult<WorktreeContent>> {
  return attempt(async () => {
    const { head, branch, repository, shared } = known ?? (await readWorktree(path, guard));
    const { gitDir, commonDir } = repository;
    const format = unwrap(await shared.objectFormat());
    const ignoreFiles = head === null ? [] : unwrap(await shared.ignoreFiles());
    const place = { format, commonDir, gitDir, ignoreFiles };
    const files = await readFiles(path, { stateDir: guard.stateDir, rulesAt: null, known: place }, head);
    const stashes = branch === null ? 0 : countStashes(unwrap(await shared.stashMessages()), branch);
    const isLanded = head === null || head === guard.landed;
    const commits = isLanded ? NO_COMMITS : await countCommits(path, head, shared);
    const underway = await findUnderway(gitDir);
    const configured = await findChangedConfiguredFiles(path, repository, guard);
    return { branch, head, ...files, configured, ...commits, stashes, underway };
  });
}

async function readWorktree(path: string, { mainBranch }: WorktreeContentOptions): Promise<KnownWorktree> {
  return {
    branch: unwrap(await findCurrentBranch(path)),
    head: await findSha(path, 'HEAD'),
    repository: unwrap(await findRepository(path)),
    shared: createSharedFacts(path, mainBranch),
  };
}

export function describeContent(content: WorktreeContent): string[] {
  const counts: [number, string][] = [
    [content.staged.length, 'staged'],
    [content.unstaged.length, 'changed'],
    [content.untracked.length, 'untracked'],
    [content.configured.length, 'configured'],
    [content.stashes, 'stashed'],
    [content.unpushed, 'unpushed'],
    [content.unmerged, 'unmerged'],
  ];
  const words = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return content.underway === null ? words : [...words, `an unfinished ${content.underway}`];
}

const NO_COMMITS = { unpushed: 0, unmerged: 0 };
type Files = Pick<WorktreeContent, 'staged' | 'unstaged' | 'untracked'>;

async function readFiles(path: string, options: UnhiddenFilesOptions, head: string | null): Promise<Files> {
  const args = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=dirty'];
  const read = async (view: UnhiddenFiles): Promise<Files> => {
    const staged = unwrap(await view.list(...args, '--cached', ...(head === null ? [] : [head])));
    const unstaged = unwrap(await view.list(...args));
    const untracked = unwrap(await view.untracked());
    const changed = await findChangedSubmodules(path, options.stateDir, view.submodules);
    return { staged, unstaged: [...unstaged, ...changed], untracked };
  };
  return unwrap(await withUnhiddenFiles(path, options, async (view) => attempt(async () => read(view))));
}

/** Submodules with changes. Each is inspected like a worktree, because git would run there with its configuration. */
async function findChangedSubmodules(path: string, stateDir: string, submodules: readonly string[]): Promise<string[]> {
  const changed: string[] = [];
  for (const submodule of submodules) {
    const folder = join(path, submodule);
    if (!(await pathExists(join(folder, '.git')))) continue;
    const head = await findSha(folder, 'HEAD');
    const { staged, unstaged, untracked } = await readFiles(folder, { stateDir, rulesAt: head }, head);
    if (staged.length + unstaged.length + untracked.length > 0) changed.push(submodule);
  }
  return changed;
}

function countStashes(messages: readonly string[], branch: string): number {
  return messages.filter((message) => /^(?:WIP on|On) (.*?): /.exec(message)?.[1] === branch).length;
}

async function countCommits(path: string, head: string, shared: SharedFacts): Promise<typeof NO_COMMITS> {
  // Work merged at the remote is not lost, even if the local main branch is behind.
  const { sha: main } = unwrap(await shared.newestMain());
  if (head === main) return NO_COMMITS;
  const count = async (...not: string[]): Promise<number> =>
    Number(unwrap(await gitText(['rev-list', '--count', head, '--not', main, ...not, '--'], { cwd: path })));
  const unmerged = await count();
  if (unmerged === 0 || unwrap(await findLanding(path, head, main)) !== null) return NO_COMMITS;
  const remotes = unwrap(await shared.remotes());
  return { unpushed: remotes.length === 0 ? 0 : await count('--remotes'), unmerged };
}

async function findUnderway(gitDir: string): Promise<string | null> {
  const marks: [string, string][] = [
    ['MERGE_HEAD', 'merge'],
    ['rebase-merge', 'rebase'],
    ['rebase-apply', 'rebase'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
    ['REVERT_HEAD', 'revert'],
    ['BISECT_LOG', 'bisection'],
  ];
  for (const [file, what] of marks) {
    if (await pathExists(join(gitDir, file))) return what;
  }
  return null;
}

/** Files of `workspace.copy` and `workspace.link` that differ from the repository and from Baton's copy. */
async function findChangedConfiguredFiles(
  worktree: string,
  { mainTop, gitDir }: KnownWorktree['repository'],
  { stateDir, configured = [] }: WorktreeContentOptions,
): Promise<string[]> {
  const { copied, linked } = readOrigin(stateDir, gitDir);
  const own: string[] = [];
  for (const path of new Set([...configured, ...Object.keys(copied), ...linked].filter(isRelativePath))) {
    const stats = await lstat(join(worktree, path)).catch(() => null);
    // Removing a link leaves its target.
    if (stats === null || stats.isSymbolicLink()) continue;
    if (unwrap(await git(['ls-files', '-z', '--', path], { cwd: worktree })).stdout !== '') continue;
    const now = await readDigest(join(worktree, path));
    if (now !== copied[path] && now !== (await readDigest(join(mainTop, path)))) own.push(path);
  }
  return own;
}
