import { hasCommit, isAncestor } from '../commits.ts';
import type { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { attempt, gitLines, type GitResult, type OwnGitFolder, unwrap } from '../run-git.ts';
import { findLanding, findRevert, type Landing } from './landing.ts';

export type WorkFact =
  | { readonly state: 'missing' }
  | { readonly state: 'on-main'; readonly sha: string; readonly landing: Landing }
  | { readonly state: 'reverted'; readonly sha: string; readonly landing: Landing; readonly by: string | null }
  | { readonly state: 'elsewhere'; readonly wasOnMain: boolean }
  | { readonly state: 'nowhere' };

/** The main branch, now and as far back as its reflog goes. */
export interface MainHistory {
  readonly sha: string;
  readonly earlier: readonly string[];
}

/** Where to read: refs and reflogs are in the user's repository, commits in Baton's. */
export interface WorkPlaces {
  readonly repository: string;
  readonly own: Pick<OwnRepositoryImporter, 'with'>;
}

/** Determines the state of one piece of work with about ten git processes. */
export async function readWorkFact(
  { repository, own: copy }: WorkPlaces,
  work: { readonly sha: string; readonly mergeSha: string | null },
  main: MainHistory,
): Promise<GitResult<WorkFact>> {
  const { sha, mergeSha } = work;
  return attempt(async () => {
    const own = unwrap(await copy.with(main.sha));
    if (!(await copy.with(sha)).ok) return { state: 'missing' };
    const merged = await readOwnMerge(own, mergeSha, main.sha);
    const landing = merged ?? unwrap(await findLanding(own, sha, main.sha));
    if (landing === null) return readLostFact(repository, sha, main, mergeSha !== null);
    const revert = unwrap(await findRevert(own, { sha: merged?.commit ?? sha, landing }, main.sha));
    if (revert === null) return { state: 'on-main', sha, landing };
    return { state: 'reverted', sha, landing, by: revert.commit };
  });
}

/** Finds Baton's own merge commit, which is known even if a conflict changed the patch. */
async function readOwnMerge(own: OwnGitFolder, mergeSha: string | null, main: string): Promise<Landing | null> {
  if (mergeSha === null) return null;
  const ancestor = await isAncestor(own, mergeSha, main);
  return ancestor.ok && ancestor.value ? { how: 'squash', commit: mergeSha, base: `${mergeSha}^` } : null;
}

export async function readMainHistory(repository: string, ref: string, sha: string): Promise<MainHistory> {
  const args = ['rev-list', '--walk-reflogs', '--ignore-missing', '--max-count=500', ref, '--'];
  const log = await gitLines(args, { cwd: repository });
  return { sha, earlier: log.ok ? [...new Set(log.value)] : [] };
}

async function readLostFact(repository: string, sha: string, main: MainHistory, wasMerged: boolean): Promise<WorkFact> {
  // A commit that only Baton's copy has is on no branch.
  if (!(await hasCommit(repository, sha))) return { state: 'nowhere' };
  const args = ['for-each-ref', '--count=1', `--contains=${sha}`, 'refs/heads', 'refs/remotes'];
  if (unwrap(await gitLines(args, { cwd: repository })).length === 0) return { state: 'nowhere' };
  return { state: 'elsewhere', wasOnMain: wasMerged || (await isReachable(repository, sha, main.earlier)) };
}

async function isReachable(repository: string, sha: string, from: readonly string[]): Promise<boolean> {
  if (from.length === 0) return false;
  const left = ['rev-list', '--ignore-missing', '--max-count=1', '--stdin'];
  const input = `${[sha, ...from.map((commit) => `^${commit}`)].join('\n')}\n`;
  const unreachable = await gitLines(left, { cwd: repository, input });
  return unreachable.ok && unreachable.value.length === 0;
}
