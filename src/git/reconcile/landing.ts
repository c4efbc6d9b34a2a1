import { findMergeBase, isAncestor, readChangedPaths, readChangeSide } from '../commits.ts';
import { attempt, git, gitLines, type GitLocation, type GitResult, unwrap } from '../run-git.ts';

export interface Landing {
  readonly how: 'fast-forward' | 'merge' | 'squash' | 'rebase';
  /** The commit on the main branch that a revert would name; null if only the content matches. */
  readonly commit: string | null;
  /** The commit before the work, so that the work is the difference to `sha`; null if unknown. */
  readonly base: string | null;
}

/** How many commits back a squashed copy is searched by content. */
const MAX_COMMITS = 2_000;

/** Returns how the work up to `sha` reached the main branch; null if it did not. */
export async function findLanding(
  repository: GitLocation,
  sha: string,
  main: string,
): Promise<GitResult<Landing | null>> {
  return attempt(async () => {
    if (unwrap(await isAncestor(repository, sha, main))) return landingOfAncestor(repository, sha, main);
    const base = unwrap(await findMergeBase(repository, sha, main));
    // The main branch has not moved since the work began.
    return base === null || base === main ? null : findCopy(repository, sha, main, base);
  });
}

async function landingOfAncestor(repository: GitLocation, sha: string, main: string): Promise<Landing> {
  const range = ['--end-of-options', main, `^${sha}`, '--'];
  const trunk = unwrap(await gitLines(['rev-list', '--first-parent', ...range], { cwd: repository }));
  const path = unwrap(await gitLines(['rev-list', '--ancestry-path', ...range], { cwd: repository }));
  const descendants = new Set(path);
  // The oldest trunk commit after the work merged it, or follows it directly.
  const first = trunk.findLast((commit) => descendants.has(commit));
  const parents = first === undefined ? [] : await parentsOf(repository, first);
  const [trunkParent] = parents;
  if (first === undefined || trunkParent === undefined || trunkParent === sha || parents.length < 2)
    return { how: 'fast-forward', commit: sha, base: null };
  return { how: 'merge', commit: first, base: unwrap(await findMergeBase(repository, trunkParent, sha)) };
}

/** Finds work that was copied instead of merged: as one commit with the same patch, commit by commit, or by content. */
async function findCopy(repository: GitLocation, sha: string, main: string, base: string): Promise<Landing | null> {
  if (unwrap(await readChangedPaths(repository, base, sha)).length === 0) return null;
  const squashed = await findSamePatch(repository, sha, main, base);
  if (squashed !== null) return { how: 'squash', commit: squashed, base };
  const unmatched = unwrap(await git(['cherry', '--end-of-options', main, sha, base], { cwd: repository }));
  if (!unmatched.stdout.includes('+')) return { how: 'rebase', commit: null, base };
  const side = unwrap(await readChangeSide(repository, base, sha, main));
  return side === 'after' ? { how: 'squash', commit: null, base } : null;
}

async function findSamePatch(repository: GitLocation, sha: string, main: string, base: string): Promise<string | null> {
  const [wanted] = unwrap(await patchIds(repository, ['--end-of-options', base, sha, '--']));
  const args = ['rev-list', '--no-merges', `--max-count=${MAX_COMMITS}`, '--end-of-options', main, `^${base}`, '--'];
  const candidates = unwrap(await gitLines(args, { cwd: repository }));
  if (wanted === undefined || candidates.length === 0) return null;
  const theirs = await patchIds(repository, ['--stdin'], `${candidates.join('\n')}\n`);
  // If the range is too large to compare, the cheaper checks below decide.
  if (!theirs.ok && theirs.problem.code === 'git/too-much-output') return null;
  return unwrap(theirs).find(([id]) => id === wanted[0])?.[1] ?? null;
}

/** Pairs of patch id and commit. */
async function patchIds(repository: GitLocation, of: readonly string[], input = ''): Promise<GitResult<string[][]>> {
  const options = { cwd: repository, maxBytes: MAX_PATCH_BYTES };
  const args = ['diff-tree', '-p', '-r', '--no-ext-diff', '--no-textconv', '--no-color', ...of];
  const patch = await git(args, { ...options, input });
  if (!patch.ok) return patch;
  const lines = await gitLines(['patch-id', '--stable'], { ...options, input: patch.value.stdout });
  return lines.ok ? { ok: true, value: lines.value.map((line) => line.split(' ')) } : lines;
}

async function parentsOf(repository: GitLocation, commit: string): Promise<string[]> {
  const line = await gitLines(['rev-list', '--parents', '--max-count=1', commit, '--'], { cwd: repository });
  return line.ok ? (line.value[0]?.split(' ').slice(1) ?? []) : [];
}

export interface Revert {
  /** The reverting commit; null if only the content shows it. */
  readonly commit: string | null;
}

/**
 * Whether merged work was undone on the main branch. Content decides if every file is as after or as before the work.
 * Otherwise a commit counts that names the reverted commit and was not reverted itself.
 */
export async function findRevert(
  repository: GitLocation,
  work: { readonly sha: string; readonly landing: Landing },
  main: string,
): Promise<GitResult<Revert | null>> {
  const { sha, landing } = work;
  const compared = await readChangeSide(repository, landing.base ?? `${sha}^`, sha, main);
  // The first commit has no parent to compare with, so only messages count.
  if (!compared.ok && landing.base !== null) return compared;
  const side = compared.ok ? compared.value : 'between';
  if (side === 'after') return { ok: true, value: null };
  return attempt(async () => {
    for (const commit of new Set([landing.commit ?? sha, sha])) {
      const declared = await findDeclaredRevert(repository, commit, main, 0);
      if (declared !== null) return { commit: declared };
    }
    return side === 'before' ? { commit: null } : null;
  });
}

/**
 * Returns the commit that reverts another one and is itself not reverted. Git writes the full id; people shorten it.
 */
async function findDeclaredRevert(
  repository: GitLocation,
  commit: string,
  main: string,
  depth: number,
): Promise<string | null> {
  const words = `--grep=This reverts commit ${commit.slice(0, 12)}`;
  const args = ['rev-list', '--fixed-strings', words, '--end-of-options', main, `^${commit}`, '--'];
  for (const revert of unwrap(await gitLines(args, { cwd: repository }))) {
    const undone = depth < MAX_DEPTH ? await findDeclaredRevert(repository, revert, main, depth + 1) : null;
    if (undone === null) return revert;
  }
  return null;
}

const MAX_PATCH_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 8;
