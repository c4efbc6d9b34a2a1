import { findMergeBase, isAncestor, readChangedPaths, readChangeSide } from '../commits.ts';
import { git, gitLines, type GitLocation, type GitResult } from '../run-git.ts';

/** How work reached the main branch. */
export interface Landing {
  readonly how: 'fast-forward' | 'merge' | 'squash' | 'rebase';
  /** The commit on the main branch that a revert would name; null if only the content matches. */
  readonly commit: string | null;
  /** The commit before the work, which is the difference to `sha`; null if unknown. */
  readonly base: string | null;
}

/** How far back a squashed copy is searched by content. */
const MAX_COMMITS = 2_000;
const MAX_PATCH_BYTES = 64 * 1024 * 1024;

/** How the work up to `sha` reached the main branch; null if it did not. */
export async function findLanding(
  repository: GitLocation,
  sha: string,
  main: string,
): Promise<GitResult<Landing | null>> {
  const ancestor = await isAncestor(repository, sha, main);
  if (!ancestor.ok) return ancestor;
  if (ancestor.value) return landingOfAncestor(repository, sha, main);
  const base = await findMergeBase(repository, sha, main);
  if (!base.ok || base.value === null) return base.ok ? { ok: true, value: null } : base;
  return findCopy(repository, sha, main, base.value);
}

async function landingOfAncestor(repository: GitLocation, sha: string, main: string): Promise<GitResult<Landing>> {
  const range = ['--end-of-options', main, `^${sha}`, '--'];
  const trunk = await gitLines(['rev-list', '--first-parent', ...range], { cwd: repository });
  if (!trunk.ok) return trunk;
  const path = await gitLines(['rev-list', '--ancestry-path', ...range], { cwd: repository });
  if (!path.ok) return path;
  const descendants = new Set(path.value);
  // The oldest trunk commit after the work brought it, or follows directly.
  const first = trunk.value.findLast((commit) => descendants.has(commit));
  const parents = first === undefined ? [] : await parentsOf(repository, first);
  const [trunkParent] = parents;
  if (first === undefined || trunkParent === undefined || trunkParent === sha || parents.length < 2) {
    return { ok: true, value: { how: 'fast-forward', commit: sha, base: null } };
  }
  const base = await findMergeBase(repository, trunkParent, sha);
  return base.ok ? { ok: true, value: { how: 'merge', commit: first, base: base.value } } : base;
}

/** Finds work that was copied instead of merged: as one commit with the same patch, commit by commit, or by content. */
async function findCopy(
  repository: GitLocation,
  sha: string,
  main: string,
  base: string,
): Promise<GitResult<Landing | null>> {
  const paths = await readChangedPaths(repository, base, sha);
  if (!paths.ok || paths.value.length === 0) return paths.ok ? { ok: true, value: null } : paths;
  const squashed = await findSamePatch(repository, sha, main, base);
  if (!squashed.ok || squashed.value !== null) {
    return squashed.ok ? { ok: true, value: { how: 'squash', commit: squashed.value, base } } : squashed;
  }
  const unmatched = await git(['cherry', '--end-of-options', main, sha, base], { cwd: repository });
  if (!unmatched.ok) return unmatched;
  if (!unmatched.value.stdout.includes('+')) return { ok: true, value: { how: 'rebase', commit: null, base } };
  const side = await readChangeSide(repository, base, sha, main);
  if (!side.ok) return side;
  return { ok: true, value: side.value === 'after' ? { how: 'squash', commit: null, base } : null };
}

/** The commit on the main branch with the same patch as the whole work. */
async function findSamePatch(
  repository: GitLocation,
  sha: string,
  main: string,
  base: string,
): Promise<GitResult<string | null>> {
  const wanted = await patchIds(repository, ['--end-of-options', base, sha, '--']);
  if (!wanted.ok) return wanted;
  const id = wanted.value[0]?.id;
  const args = ['rev-list', '--no-merges', `--max-count=${MAX_COMMITS}`, '--end-of-options', main, `^${base}`, '--'];
  const candidates = await gitLines(args, { cwd: repository });
  if (!candidates.ok) return candidates;
  if (id === undefined || candidates.value.length === 0) return { ok: true, value: null };
  const theirs = await patchIds(repository, ['--stdin'], `${candidates.value.join('\n')}\n`);
  // If the range is too large to compare, the cheaper checks that follow decide.
  if (!theirs.ok) return theirs.problem.code === 'git/too-much-output' ? { ok: true, value: null } : theirs;
  return { ok: true, value: theirs.value.find((patch) => patch.id === id)?.commit ?? null };
}

interface PatchId {
  readonly id: string;
  readonly commit: string;
}

async function patchIds(repository: GitLocation, of: readonly string[], input?: string): Promise<GitResult<PatchId[]>> {
  const options = { cwd: repository, maxBytes: MAX_PATCH_BYTES };
  const args = ['diff-tree', '-p', '-r', '--no-ext-diff', '--no-textconv', '--no-color', ...of];
  const patch = await git(args, input === undefined ? options : { ...options, input });
  if (!patch.ok) return patch;
  const lines = await gitLines(['patch-id', '--stable'], { ...options, input: patch.value.stdout });
  if (!lines.ok) return lines;
  const ids = lines.value.map((line) => line.split(' ')).map(([id = '', commit = '']) => ({ id, commit }));
  return { ok: true, value: ids };
}

async function parentsOf(repository: GitLocation, commit: string): Promise<string[]> {
  const line = await gitLines(['rev-list', '--parents', '--max-count=1', commit, '--'], { cwd: repository });
  return line.ok ? (line.value[0]?.split(' ').slice(1) ?? []) : [];
}

/** The depth of reverts of reverts. */
const MAX_DEPTH = 8;

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
  const side = await readChangeSide(repository, landing.base ?? `${sha}^`, sha, main);
  // The first commit has no parent to compare with; only messages count.
  if (!side.ok && landing.base !== null) return side;
  if (side.ok && side.value === 'after') return { ok: true, value: null };
  for (const commit of new Set([landing.commit ?? sha, sha])) {
    const declared = await findDeclaredRevert(repository, commit, main, 0);
    if (!declared.ok || declared.value !== null)
      return declared.ok ? { ok: true, value: { commit: declared.value } } : declared;
  }
  return { ok: true, value: side.ok && side.value === 'before' ? { commit: null } : null };
}

/** The commit that reverts another and still stands. Git writes the full id; people shorten it. */
async function findDeclaredRevert(
  repository: GitLocation,
  commit: string,
  main: string,
  depth: number,
): Promise<GitResult<string | null>> {
  const words = `--grep=This reverts commit ${commit.slice(0, 12)}`;
  const args = ['rev-list', '--fixed-strings', words, '--end-of-options', main, `^${commit}`, '--'];
  const reverts = await gitLines(args, { cwd: repository });
  if (!reverts.ok) return reverts;
  for (const revert of reverts.value) {
    const undone = depth < MAX_DEPTH ? await findDeclaredRevert(repository, revert, main, depth + 1) : null;
    if (undone !== null && !undone.ok) return undone;
    if (undone === null || undone.value === null) return { ok: true, value: revert };
  }
  return { ok: true, value: null };
}
