import { findMergeBase } from '../commits.ts';
import { mergeAutomatically } from '../merge/combine.ts';
import { git, type GitResult, type OwnGitFolder, unwrap, attempt } from '../run-git.ts';

export interface OwnChangeRequest {
  /** The commit at which the work began. */
  readonly base: string;
  readonly tip: string;
  /** The newest recorded commit of main that has no commit of the task; null if main is unknown. */
  readonly main: string | null;
}

export interface OwnBase {
  /** The commit to compare the tip with: its tree is the automatic merge of the base with `main`. */
  readonly from: string;
  /** The newest recorded commit of main that the tip contains; null if there is none. */
  readonly main: string | null;
  /** The files in which that merge conflicts. The session that resolved the conflict has changed them. */
  readonly conflicts: readonly string[];
}

/**
 * Finds the commit with which the tip is compared to get the session's own change: what main brought in is charged to
 * nobody, and what a merge commit adds beyond the automatic merge is charged. Runs in Baton's own repository.
 */
export async function findOwnBase(
  own: OwnGitFolder,
  { base, tip, main }: OwnChangeRequest,
): Promise<GitResult<OwnBase>> {
  const alone: OwnBase = { from: base, main: null, conflicts: [] };
  if (main === null) return { ok: true, value: alone };
  const contained = await findMergeBase(own, main, tip);
  if (!contained.ok) return contained;
  const met = contained.value;
  if (met === null || met === base) return { ok: true, value: { ...alone, main: met } };
  return attempt(async () => {
    const merged = await mergeAutomatically(own, base, met);
    if (merged.kind === 'unrelated') return alone;
    const conflicts = merged.kind === 'conflict' ? merged.files : [];
    return { from: await commitTree(own, merged.tree, [base, met]), main: met, conflicts };
  });
}

/** A commit with fixed names and times, so that the same merge has the same id. */
async function commitTree(own: OwnGitFolder, tree: string, parents: readonly string[]): Promise<string> {
  const args = ['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), '-m', 'automatic merge', tree];
  return unwrap(await git(args, { cwd: own, env: IDENTITY })).stdout.trim();
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Baton',
  GIT_AUTHOR_EMAIL: 'baton@localhost',
  GIT_AUTHOR_DATE: '1970-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Baton',
  GIT_COMMITTER_EMAIL: 'baton@localhost',
  GIT_COMMITTER_DATE: '1970-01-01T00:00:00Z',
};
