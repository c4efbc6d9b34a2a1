import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { findLanding } from '../reconcile/landing.ts';
import { findCurrentBranch, findMainBranch, findNewestMain, findRepository, findSha } from '../repository.ts';
import { git, gitLines, type GitResult, gitText } from '../run-git.ts';
import { readOrigin } from './origin.ts';
import { pathExists, readDigest } from './read-inside.ts';
import { type UnhiddenFiles, withUnhiddenFiles } from './unhidden-files.ts';

/** Everything that would be lost if a worktree were removed. Of ignored files only the configured ones count. */
export interface WorktreeContent {
  readonly branch: string | null;
  readonly head: string | null;
  readonly staged: readonly string[];
  readonly unstaged: readonly string[];
  readonly untracked: readonly string[];
  /** Files that the runbook requires in a worktree and that differ here. */
  readonly configured: readonly string[];
  /** Stashes made on its branch: they stay in the repository, but would be forgotten. */
  readonly stashes: number;
  /** An unfinished merge, rebase or similar operation. */
  readonly underway: string | null;
  /** Commits neither on a remote nor on the main branch; 0 if there is no remote. */
  readonly unpushed: number;
  /** Commits whose work is not on the main branch. */
  readonly unmerged: number;
}

export interface WorktreeContentOptions {
  /** The folder with the recorded origins of worktrees. */
  readonly stateDir: string;
  readonly mainBranch?: string | undefined;
  /** Paths that the runbook requires in worktrees. */
  readonly configured?: readonly string[];
}

/** Reads everything that exists only in a worktree. No setting in it can hide files. */
export async function readWorktreeContent(
  path: string,
  guard: WorktreeContentOptions,
): Promise<GitResult<WorktreeContent>> {
  const branch = await findCurrentBranch(path);
  if (!branch.ok) return branch;
  const head = await findSha(path, 'HEAD');
  const main = head === null ? null : await findMainBranch(path, guard.mainBranch);
  if (main?.ok === false) return main;
  const rulesAt = main?.value.sha ?? null;
  const { stateDir } = guard;
  const files = await withUnhiddenFiles(path, { stateDir, rulesAt }, async (view) =>
    readFiles(view, { path, stateDir, head }),
  );
  if (!files.ok) return files;
  const stashes = branch.value === null ? { ok: true as const, value: 0 } : await countStashes(path, branch.value);
  if (!stashes.ok) return stashes;
  // Work merged at the remote is not lost, even if the local main branch is behind.
  const newest = head === null ? null : await findNewestMain(path, guard.mainBranch);
  if (newest?.ok === false) return newest;
  const isEmpty = head === null || newest === null;
  const commits = isEmpty ? { ok: true as const, value: NO_COMMITS } : await countCommits(path, head, newest.value.sha);
  if (!commits.ok) return commits;
  const underway = await findUnderway(path);
  if (!underway.ok) return underway;
  const own = await findChangedConfiguredFiles(path, guard);
  if (!own.ok) return own;
  const rest = {
    ...files.value,
    configured: own.value,
    ...commits.value,
    stashes: stashes.value,
    underway: underway.value,
  };
  return { ok: true, value: { branch: branch.value, head, ...rest } };
}

/** Describes what would be lost; empty if nothing. */
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

interface Within {
  readonly path: string;
  readonly stateDir: string;
  readonly head: string | null;
}

async function readFiles(view: UnhiddenFiles, { path, stateDir, head }: Within): Promise<GitResult<Files>> {
  const args = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=dirty'];
  const staged = await view.list(...args, '--cached', ...(head === null ? [] : [head]));
  if (!staged.ok) return staged;
  const unstaged = await view.list(...args);
  if (!unstaged.ok) return unstaged;
  const untracked = await view.untracked();
  if (!untracked.ok) return untracked;
  const changed = await findChangedSubmodules(path, stateDir, view.submodules);
  if (!changed.ok) return changed;
  const files = { staged: staged.value, unstaged: [...unstaged.value, ...changed.value], untracked: untracked.value };
  return { ok: true, value: files };
}

/** Submodules with changes. Each is inspected like a worktree, because git would run there with its configuration. */
async function findChangedSubmodules(
  path: string,
  stateDir: string,
  submodules: readonly string[],
): Promise<GitResult<string[]>> {
  const changed: string[] = [];
  for (const submodule of submodules) {
    const folder = join(path, submodule);
    if (!(await pathExists(join(folder, '.git')))) continue;
    const head = await findSha(folder, 'HEAD');
    const inside = await withUnhiddenFiles(folder, { stateDir, rulesAt: head }, async (view) =>
      readFiles(view, { path: folder, stateDir, head }),
    );
    if (!inside.ok) return inside;
    const { staged, unstaged, untracked } = inside.value;
    if (staged.length + unstaged.length + untracked.length > 0) changed.push(submodule);
  }
  return { ok: true, value: changed };
}

/** Stashes belong to the repository; their messages name the branch. */
async function countStashes(path: string, branch: string): Promise<GitResult<number>> {
  const there = await findSha(path, 'refs/stash');
  if (there === null) return { ok: true, value: 0 };
  const args = ['log', '--walk-reflogs', '--format=%gs', '--no-show-signature', 'refs/stash', '--'];
  const messages = await gitLines(args, { cwd: path });
  if (!messages.ok) return messages;
  const made = messages.value.filter((message) => /^(?:WIP on|On) (.*?): /.exec(message)?.[1] === branch);
  return { ok: true, value: made.length };
}

async function countCommits(path: string, head: string, main: string): Promise<GitResult<typeof NO_COMMITS>> {
  const count = async (...not: string[]): Promise<GitResult<number>> => {
    const counted = await gitText(['rev-list', '--count', head, '--not', main, ...not, '--'], { cwd: path });
    return counted.ok ? { ok: true, value: Number(counted.value) } : counted;
  };
  const ahead = await count();
  if (!ahead.ok || ahead.value === 0) return ahead.ok ? { ok: true, value: NO_COMMITS } : ahead;
  const landing = await findLanding(path, head, main);
  if (!landing.ok || landing.value !== null) return landing.ok ? { ok: true, value: NO_COMMITS } : landing;
  const remotes = await gitLines(['remote'], { cwd: path });
  if (!remotes.ok) return remotes;
  const unpushed = remotes.value.length === 0 ? { ok: true as const, value: 0 } : await count('--remotes');
  return unpushed.ok ? { ok: true, value: { unpushed: unpushed.value, unmerged: ahead.value } } : unpushed;
}

async function findUnderway(path: string): Promise<GitResult<string | null>> {
  const gitDir = await gitText(['rev-parse', '--absolute-git-dir'], { cwd: path });
  if (!gitDir.ok) return gitDir;
  const marks: [string, string][] = [
    ['MERGE_HEAD', 'merge'],
    ['rebase-merge', 'rebase'],
    ['rebase-apply', 'rebase'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
    ['REVERT_HEAD', 'revert'],
    ['BISECT_LOG', 'bisection'],
  ];
  for (const [file, what] of marks) {
    if (await pathExists(join(gitDir.value, file))) return { ok: true, value: what };
  }
  return { ok: true, value: null };
}

/** Files of `workspace.copy` and `workspace.link` that differ from the repository and from Baton's copy. */
async function findChangedConfiguredFiles(
  worktree: string,
  { stateDir, configured = [] }: { readonly stateDir: string; readonly configured?: readonly string[] },
): Promise<GitResult<string[]>> {
  const found = await findRepository(worktree);
  if (!found.ok) return found;
  const { mainTop, gitDir } = found.value;
  const { copied, linked } = readOrigin(stateDir, gitDir);
  const own: string[] = [];
  for (const path of new Set([...configured, ...Object.keys(copied), ...linked].filter(isRelativePath))) {
    const stats = await lstat(join(worktree, path)).catch(() => null);
    // The target of a link stays.
    if (stats === null || stats.isSymbolicLink()) continue;
    const tracked = await git(['ls-files', '-z', '--', path], { cwd: worktree });
    if (!tracked.ok) return tracked;
    if (tracked.value.stdout !== '') continue;
    const now = await readDigest(join(worktree, path));
    if (now !== copied[path] && now !== (await readDigest(join(mainTop, path)))) own.push(path);
  }
  return { ok: true, value: own };
}
