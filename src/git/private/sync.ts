import type { PrivateGit } from '../../protocol/sandbox.ts';
import type { GitFailure, GitResult } from '../run-git.ts';
import { followWorktree } from './follow-worktree.ts';
import { importCommits } from './import-commits.ts';
import { importLargeFiles } from './import-large-files.ts';
import { type Known, readKnown, readSnapshot, writeKnown } from './known.ts';
import { findBranch, isClaimLive, moveOtherBranch, moveTaskBranch, readWorktreeHead } from './move-refs.ts';
import { branchOfHead, isObjectId, readPrivateRefs, type Refs, stampOf } from './private-refs.ts';
import { type BranchMove, HEADS, planSync, refusedBranch, type RefusedBranch, type SyncPlan } from './sync-plan.ts';

export interface SyncResult {
  readonly moved: readonly BranchMove[];
  readonly refused: readonly RefusedBranch[];
  /** The task's branch as the last sync left it in the user's repository. */
  readonly tip: string | null;
}

/** Whether a branch or HEAD of the session has changed since the last sync. Synchronous; reads a few small files. */
export function hasPrivateChanges({ folder }: Pick<PrivateGit, 'folder'>): boolean {
  const known = readKnown(folder);
  return known !== null && !known.isBuilding && stampOf(folder) !== known.stamp;
}

/**
 * Copies the session's commits to the user's repository: objects first, then the branches, each by compare-and-swap,
 * then HEAD and index of the worktree. A kill at any point loses nothing, because the next sync continues.
 */
export async function syncPrivateGit(git: PrivateGit): Promise<GitResult<SyncResult>> {
  const earlier = running.get(git.folder) ?? Promise.resolve();
  const sync = earlier.then(async () => runSync(git));
  const settled = sync.catch(() => undefined);
  running.set(git.folder, settled);
  void settled.then(() => running.get(git.folder) === settled && running.delete(git.folder));
  return sync;
}

/** Allows one sync of a folder at a time. */
const running = new Map<string, Promise<unknown>>();

/** A running sync. */
interface SyncRun {
  readonly git: PrivateGit;
  known: Known;
  readonly haves: readonly string[];
  readonly moved: BranchMove[];
  readonly refused: RefusedBranch[];
}

async function runSync(git: PrivateGit): Promise<GitResult<SyncResult>> {
  const stored = readKnown(git.folder);
  if (stored === null || stored.isBuilding)
    return { ok: true, value: { moved: [], refused: [], tip: stored?.tip ?? null } };
  const snapshot = readSnapshot(git, ['refs/']);
  // Taken before the refs are read, so that a later change has another stamp.
  const stamp = stampOf(git.folder);
  const privateRefs = readPrivateRefs(git);
  const known = { ...(await settlePending(git, stored)), stamp };
  const plan = planSync({ ...known, privateRefs, branch: git.branch, snapshot });
  if (!isClaimLive(git)) return { ok: true, value: { moved: [], refused: refuseAll(plan), tip: known.tip } };
  const run: SyncRun = { git, known, haves: findHaves(known, snapshot), moved: [], refused: [...plan.refused] };
  const failure = (await importLargeFiles(git)) ?? (await syncTaskBranch(run, plan.task));
  if (failure === undefined) {
    const head = await syncOtherBranches(run, plan.others, privateRefs.head);
    run.known = await followWorktree(git, run.known, head);
    // Done now, because HEAD has only just left a branch that the session deleted.
    await moveOthers(
      run,
      plan.others.filter((each) => each.to === null),
    );
  }
  // Recorded even after a failure, so that the sync is repeated at the next change and at the end, not at every request
  // of the agent. A claim's fence may open again without a change, so then the old stamp stays.
  const isFenced = run.refused.some(({ reason }) => reason === 'claim-lost');
  writeKnown(isFenced ? { ...run.known, stamp: stored.stamp } : run.known);
  return failure ?? { ok: true, value: { moved: run.moved, refused: run.refused, tip: run.known.tip } };
}

function refuseAll({ task, others, refused }: SyncPlan): RefusedBranch[] {
  const moves = task === null ? others : [task, ...others];
  return [...refused, ...moves.map(({ branch }) => refusedBranch(branch, 'claim-lost'))];
}

async function syncTaskBranch(run: SyncRun, move: BranchMove | null): Promise<GitFailure | undefined> {
  if (move === null || move.to === null) return undefined;
  const { branch, from, to } = move;
  const imported = await importCommits(run.git, [to], run.haves);
  if (!imported.ok) return imported;
  const outcome = await moveTaskBranch(run.git, { branch, from, to });
  if (!outcome.ok) return outcome;
  if (outcome.value === 'done') {
    run.moved.push(move);
    run.known = { ...run.known, tip: to };
    writeKnown(run.known);
  } else run.refused.push(refusedBranch(branch, outcome.value));
  return undefined;
}

/** Creates and moves branches. Returns the private HEAD; empty if detached and its commit could not be imported. */
async function syncOtherBranches(run: SyncRun, others: readonly BranchMove[], head: string): Promise<string> {
  const { git } = run;
  const moves = others.filter((each) => each.to !== null);
  const isDetached = git.branch === null && isObjectId(head, git.format) && head !== run.known.head;
  const wants = [...moves.flatMap(({ to }) => to ?? []), ...(isDetached ? [head] : [])];
  if (wants.length === 0) return head;
  const imported = await importCommits(git, wants, run.haves);
  if (imported.ok) await moveOthers(run, moves);
  else run.refused.push(...moves.map(({ branch }) => refusedBranch(branch, 'damaged')));
  return imported.ok || !isDetached ? head : '';
}

async function moveOthers(run: SyncRun, moves: readonly BranchMove[]): Promise<void> {
  if (moves.length === 0) return;
  const made = new Map(run.known.made);
  writeKnown({ ...run.known, pending: new Map(moves.map(({ branch, to }) => [branch, to])) });
  const current = branchOfHead(await readWorktreeHead(run.git.at));
  for (const move of moves) {
    // The branch to delete is checked out, by a person or because HEAD could not follow.
    if (move.to === null && move.branch === current) continue;
    const outcome = await moveOtherBranch(run.git, move);
    if (outcome !== 'done') {
      run.refused.push(refusedBranch(move.branch, outcome));
      continue;
    }
    run.moved.push(move);
    if (move.to === null) made.delete(move.branch);
    else made.set(move.branch, move.to);
  }
  run.known = { ...run.known, made };
  writeKnown(run.known);
}

/** Handles a kill between moving branches and recording that: the moves that were made count. */
async function settlePending(git: PrivateGit, known: Known): Promise<Known> {
  if (known.pending.size === 0) return known;
  const made = new Map(known.made);
  for (const [branch, to] of known.pending) {
    if ((await findBranch(git, branch)) !== to) continue;
    if (to === null) made.delete(branch);
    else made.set(branch, to);
  }
  return { ...known, made, pending: new Map() };
}

/** Finds commits that the user's repository has, so that git can skip their history. */
function findHaves({ tip, made }: Known, snapshot: Refs): string[] {
  const heads = [...snapshot].filter(([name]) => name.startsWith(HEADS)).slice(0, MOST_HAVES);
  return [...new Set([...(tip === null ? [] : [tip]), ...made.values(), ...heads.map(([, value]) => value)])];
}

const MOST_HAVES = 50;
