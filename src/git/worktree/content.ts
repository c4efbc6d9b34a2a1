import { access, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { findLanding } from '../reconcile/landing.ts';
import { findCurrentBranch, findMainBranch, findNewestMain, findRepository, findSha } from '../repository.ts';
import { git, gitLines, type GitResult, gitText } from '../run-git.ts';
import { readOrigin } from './origin.ts';
import { readDigest } from './read-inside.ts';
import { type UnhiddenFiles, withUnhiddenFiles } from './unhidden-files.ts';

/** What would be lost, or would be hard to find again, if a worktree went away. Of files that
 * were to be ignored from the beginning only those count that are configured. */
export interface WorktreeContent {
  readonly branch: string | null;
  readonly head: string | null;
  readonly staged: readonly string[];
  readonly unstaged: readonly string[];
  readonly untracked: readonly string[];
  /** Files that the runbook says a worktree needs, and that are only like this here. */
  readonly configured: readonly string[];
  /** Stashes made on its branch: they stay in the repository, but nobody would look for them any more. */
  readonly stashes: number;
  /** A merge, rebase or the like that has not ended. */
  readonly underway: string | null;
  /** Commits that are neither on a remote nor on the main branch. 0 where there is no remote: then nothing can be pushed. */
  readonly unpushed: number;
  /** Commits that are not on the main branch, in whatever form. */
  readonly unmerged: number;
}

/** How a worktree is looked at. */
export interface WorktreeContentOptions {
  /** Where it is on record how worktrees were when they were made. */
  readonly stateDir: string;
  readonly mainBranch?: string | undefined;
  /** Paths that the runbook says worktrees need. */
  readonly configured?: readonly string[];
}

/** Looks at everything in a worktree that only exists there. Nothing that was done in it hides any of that. */
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
  // What was merged at the remote is not lost, even if the main branch here has not followed yet.
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

/** What a worktree still holds, in words; empty where nothing would be lost. */
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
  return content.underway === null ? words : [...words, `a ${content.underway} that has not ended`];
}

const NO_COMMITS = { unpushed: 0, unmerged: 0 };

type Files = Pick<WorktreeContent, 'staged' | 'unstaged' | 'untracked'>;

interface Within {
  readonly path: string;
  readonly stateDir: string;
  readonly head: string | null;
}

async function readFiles(view: UnhiddenFiles, { path, stateDir, head }: Within): Promise<GitResult<Files>> {
  const asked = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=dirty'];
  const staged = await view.list(...asked, '--cached', ...(head === null ? [] : [head]));
  if (!staged.ok) return staged;
  const unstaged = await view.list(...asked);
  if (!unstaged.ok) return unstaged;
  const untracked = await view.untracked();
  if (!untracked.ok) return untracked;
  const changed = await findChangedSubmodules(path, stateDir, view.submodules);
  if (!changed.ok) return changed;
  const files = { staged: staged.value, unstaged: [...unstaged.value, ...changed.value], untracked: untracked.value };
  return { ok: true, value: files };
}

/** Submodules with changes of their own. Each is looked at as a worktree is: git itself would run there with its configuration. */
async function findChangedSubmodules(
  path: string,
  stateDir: string,
  submodules: readonly string[],
): Promise<GitResult<string[]>> {
  const changed: string[] = [];
  for (const submodule of submodules) {
    const folder = join(path, submodule);
    if (!(await isThere(join(folder, '.git')))) continue;
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

/** Stashes belong to the repository; their message says on which branch they were made. */
async function countStashes(path: string, branch: string): Promise<GitResult<number>> {
  const there = await findSha(path, 'refs/stash');
  if (there === null) return { ok: true, value: 0 };
  const asked = ['log', '--walk-reflogs', '--format=%gs', '--no-show-signature', 'refs/stash', '--'];
  const messages = await gitLines(asked, { cwd: path });
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
    if (await isThere(join(gitDir.value, file))) return { ok: true, value: what };
  }
  return { ok: true, value: null };
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Files that git ignores and that somebody said a worktree needs (`workspace.copy`, `workspace.link`), as far as this worktree has
 * something else in them than the repository has, or than Baton put there.
 */
export async function findChangedConfiguredFiles(
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
    // What a link leads to stays where it is.
    if (stats === null || stats.isSymbolicLink()) continue;
    const tracked = await git(['ls-files', '-z', '--', path], { cwd: worktree });
    if (!tracked.ok) return tracked;
    if (tracked.value.stdout !== '') continue;
    const now = await readDigest(join(worktree, path));
    if (now !== copied[path] && now !== (await readDigest(join(mainTop, path)))) own.push(path);
  }
  return { ok: true, value: own };
}
