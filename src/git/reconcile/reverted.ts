import { readChangeSide } from '../changed-paths.ts';
import type { Landing } from './landing.ts';
import { gitLines, type GitResult, type GitLocation } from '../run-git.ts';

/** Reverts of reverts of reverts: nobody means more than this. */
const MAX_DEPTH = 8;

export interface Revert {
  /** The commit that says so; null where the content alone tells. */
  readonly commit: string | null;
}

/**
 * Whether work that landed on the main branch was undone there. Content decides where it can: every file as the work left
 * it, or every file as it was before. In between, a commit counts that says that it reverts the work and still stands.
 */
export async function findRevert(
  repository: GitLocation,
  work: { readonly sha: string; readonly landing: Landing },
  main: string,
): Promise<GitResult<Revert | null>> {
  const { sha, landing } = work;
  const side = await readChangeSide(repository, landing.base ?? `${sha}^`, sha, main);
  // The first commit of a repository has nothing before it to compare with; what people said still counts.
  if (!side.ok && landing.base !== null) return side;
  if (side.ok && side.value === 'after') return { ok: true, value: null };
  for (const commit of new Set([landing.commit ?? sha, sha])) {
    const said = await findDeclaredRevert(repository, commit, main, 0);
    if (!said.ok || said.value !== null) return said.ok ? { ok: true, value: { commit: said.value } } : said;
  }
  return { ok: true, value: side.ok && side.value === 'before' ? { commit: null } : null };
}

/** The commit on the main branch that reverts another and still stands. Git writes the full name; people shorten it. */
async function findDeclaredRevert(
  repository: GitLocation,
  commit: string,
  main: string,
  depth: number,
): Promise<GitResult<string | null>> {
  const words = `--grep=This reverts commit ${commit.slice(0, 12)}`;
  const asked = ['rev-list', '--fixed-strings', words, '--end-of-options', main, `^${commit}`, '--'];
  const reverts = await gitLines(asked, { cwd: repository });
  if (!reverts.ok) return reverts;
  for (const revert of reverts.value) {
    const undone = depth < MAX_DEPTH ? await findDeclaredRevert(repository, revert, main, depth + 1) : null;
    if (undone !== null && !undone.ok) return undone;
    if (undone === null || undone.value === null) return { ok: true, value: revert };
  }
  return { ok: true, value: null };
}
