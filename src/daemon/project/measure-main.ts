import { LEDGER_LIMITS } from '../../ledger/format/limits.ts';
import { findMergeBase } from '../../git/commits.ts';
import { fetchUpstream, isInHistory, measureMove, readMoveContent, type Upstream } from '../../git/main-branch.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { findSha } from '../../git/repository.ts';
import type { MainBranchState } from '../../state/main/main-branch.ts';
import type { ObservedMove } from '../../state/main/observe-main.ts';

export interface MeasureMain {
  readonly path: string;
  readonly own: OwnRepositoryImporter;
  readonly branch: string;
  /** Git settings (`name=value`) for the login at the remote. */
  readonly login: () => readonly string[];
}

interface MainMove {
  readonly main: MainBranchState;
  readonly sha: string;
  /** The branches of open tasks. */
  readonly branches: readonly TaskBranch[];
  readonly isSuspect: boolean;
  readonly upstream: Upstream | null;
}

/**
 * Measures a move of the main branch; while a session is live, in Baton's own repository. Commits that cannot be copied
 * there count as rewritten history.
 */
export async function measureMain(context: MeasureMain, move: MainMove): Promise<ObservedMove> {
  const measured = await measureWithout(context, move);
  const { branches, sha } = move;
  return { ...measured, carried: await findCarried(context, { branches, old: measured.old, sha }) };
}

async function measureWithout(
  context: MeasureMain,
  { main, sha, isSuspect, upstream }: MainMove,
): Promise<ObservedMove> {
  const { path, branch } = context;
  const place = isSuspect ? await ownPlace(context, main, sha) : path;
  if (place === undefined) return { old: main.sha, fastForward: false, commits: 0, onUpstream: null, ...UNKNOWN };
  const prepared = main.prepared?.sha;
  const old = prepared !== undefined && (await isInHistory(place, prepared, sha)) ? prepared : main.sha;
  const { fastForward, commits } = await measureMove(place, old, sha);
  const isKept = fastForward && branch === main.branch;
  // A changed upstream proves nothing, and is not contacted.
  const witness = upstream?.digest === main.upstream ? upstream : null;
  const onUpstream = isKept && isSuspect ? await isUpstream(context, sha, witness) : null;
  if (isKept && (!isSuspect || onUpstream === true)) return { old, fastForward, commits, onUpstream, ...UNKNOWN };
  const own = await ownPlace(context, main, sha);
  return {
    old,
    fastForward,
    commits,
    onUpstream,
    ...(own === undefined ? UNKNOWN : await readMoveContent(own, old, sha)),
  };
}

const UNKNOWN = { authors: [], stat: null };

/** Returns Baton's own repository with both commits; undefined if the new one cannot be copied. */
async function ownPlace(
  { own }: MeasureMain,
  { sha: old }: MainBranchState,
  sha: string,
): Promise<OwnRepository | undefined> {
  // A commit that the repository has lost may have been copied earlier.
  await own.with(old);
  const found = await own.with(sha);
  return found.ok ? found.value : undefined;
}

async function isUpstream({ own, login }: MeasureMain, sha: string, upstream: Upstream | null): Promise<boolean> {
  const opened = upstream === null ? null : await own.with();
  if (upstream === null || opened === null || !opened.ok) return false;
  const fetched = await fetchUpstream(opened.value, upstream, { login: login(), timeoutMs: FETCH_MS });
  return fetched.ok && isInHistory(opened.value, sha, fetched.value);
}

const FETCH_MS = 30_000;

export interface TaskBranch {
  readonly taskId: string;
  readonly branch: string;
}

/**
 * Finds the tasks of which the move brought commits: those that the branch and the new position have in common, and the
 * old position lacks. Commits that the fetched upstream has came from there.
 */
async function findCarried(
  { path, branch: main }: Pick<MeasureMain, 'path' | 'branch'>,
  { branches, old, sha }: { readonly branches: readonly TaskBranch[]; readonly old: string; readonly sha: string },
): Promise<readonly string[]> {
  const carried: string[] = [];
  const fetched = await findSha(path, `refs/remotes/origin/${main}`);
  for (const { taskId, branch } of branches.slice(0, MOST_BRANCHES)) {
    if (carried.length === LEDGER_LIMITS.tasksPerEntry) break;
    const tip = await findSha(path, `refs/heads/${branch}`);
    const met = tip === null ? null : await findMergeBase(path, tip, sha);
    if (met?.ok !== true || met.value === null) continue;
    if (await isInHistory(path, met.value, old)) continue;
    if (fetched === null || !(await isInHistory(path, met.value, fetched))) carried.push(taskId);
  }
  return carried;
}

const MOST_BRANCHES = 500;
