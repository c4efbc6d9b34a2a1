import { randomUUID } from 'node:crypto';
import { isAncestor, isOnFirstParents, readCommitsSince } from '../../git/commits.ts';
import { createMergeCommit, findTree } from '../../git/merge/combine.ts';
import { hasCompleteCommit, type OwnRepository, pinCommits } from '../../git/own/own-repository.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import { writebackRecords } from '../../state/tasks/task.ts';
import { WRITEBACK_REQUIRED } from '../../state/tasks/writeback.ts';
import type { EffectContext } from '../context.ts';
import { observePlace } from '../sessions/observe-branch.ts';
import { findBaseOf } from '../sessions/workplace.ts';
import { requireRemote } from '../travel/remote-away.ts';
import { findProtected, measuredOf } from './find-protected.ts';
import { renderGithubProblem } from './github.ts';
import { weakestSandbox } from './checks.ts';
import { openMainTarget } from './main-target.ts';
import { checkMerged, mergePull, type MergeResult, MOST_TRIES } from './merge-pull.ts';

type MergeEffect = Events['MergeRequested'];

/**
 * Merges one task at a time. The commit is made in Baton's own repository, checked in a clean checkout and recorded.
 * Only then does the main branch move, if it is still where it was. If not, the merge is made and checked again.
 */
export async function mergeTask(
  effect: MergeEffect,
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  return context.mergeSemaphore.run(async () => {
    // If a move of the main branch needs a person, this merge is cancelled for now.
    await context.recordMainMoves();
    // If the branch moved away from the approved head, this merge is cancelled, too.
    await observePlace(effect.task_id, context);
    if (signal.aborted) return [];
    const missing = await findMissingRecord(effect, context);
    if (missing === 'unknown') return [];
    const held = await holdProtected(effect, context);
    if (held === 'held') return [];
    const how = effect.pull === undefined ? mergeLocally : mergePull;
    const ended =
      missing === undefined
        ? (held ?? (await how(effect, context, signal)))
        : ({ outcome: 'failed', failure: 'writeback', reason: missing } as const);
    if (ended === undefined) return [];
    const { merge_id, method } = effect;
    const nothing = { base: null, merge_sha: null, reason: null, files: [], output: null };
    const about = { ...nothing, ...weakestSandbox(merge_id, context), ...ended };
    return [{ kind: 'finish-merge', command: { merge_id, method, newId: randomUUID(), ...about } }];
  });
}

/**
 * Records protected changes. `held`: a person must decide, or the store does not respond. A branch that cannot be
 * measured is refused.
 */
async function holdProtected(
  { merge_id, task_id, head }: MergeEffect,
  context: EffectContext,
): Promise<MergeResult | 'held' | undefined> {
  const task = await context.readState(({ tasks }) => tasks.get(task_id));
  if (task === undefined) return 'held';
  const found = await findProtected(task, head, context);
  if (!found.ok) return { outcome: 'refused', reason: renderGithubProblem(found.problem) };
  const recorded = await context.submit({
    kind: 'measure-protected',
    command: { task_id, merge_id, ...measuredOf(found.value) },
  });
  const isGoing = recorded && (await context.readState(({ tasks }) => tasks.get(task_id)?.flow.merge?.id === merge_id));
  return isGoing === true ? undefined : 'held';
}

async function mergeLocally(
  effect: MergeEffect,
  context: EffectContext,
  signal: AbortSignal,
): Promise<MergeResult | undefined> {
  const { into } = effect;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const main = await findBaseOf(into, context);
    if (!main.ok) return { outcome: 'refused', reason: renderGithubProblem(main.problem) };
    const branch = main.value.name;
    const target = await openMainTarget(branch, context);
    const found = await target.findHead();
    if (!found.ok) return { outcome: 'refused', reason: renderGithubProblem(found.problem) };
    const onto = found.value;
    // If new commits of the remote need a person, this merge is cancelled for now.
    if (signal.aborted) return undefined;
    const own = requireRemote(await context.ownRepository.with(effect.head, onto));
    if (!own.ok) return { outcome: 'refused', base: onto, reason: renderGithubProblem(own.problem) };
    const prepared = await findPrepared(effect, { own: own.value, branch, onto }, context);
    if (prepared === 'unknown') return undefined;
    if (prepared?.isOnBranch === true) return { outcome: 'merged', base: prepared.base, merge_sha: prepared.sha };
    const made = prepared ?? (await makeMergeCommit(effect, { own: own.value, onto, branch }, context, signal));
    if (made === undefined || 'outcome' in made) return made;
    // After a cancellation no daemon would record the merge.
    if (signal.aborted) return undefined;
    const advanced = await target.advance(own.value, onto, made.sha);
    if (!advanced.ok) return { outcome: 'refused', base: onto, reason: renderGithubProblem(advanced.problem) };
    if (advanced.value === 'advanced') return { outcome: 'merged', base: onto, merge_sha: made.sha };
  }
  return { outcome: 'refused', reason: `the main branch moved ${MOST_TRIES} times during the merge` };
}

interface MergeTarget {
  readonly own: OwnRepository;
  readonly onto: string;
  readonly branch: string;
}

async function makeMergeCommit(
  effect: MergeEffect,
  { own, onto, branch }: MergeTarget,
  context: EffectContext,
  signal: AbortSignal,
): Promise<MergeResult | { readonly sha: string } | undefined> {
  const { head, method, message, merge_id } = effect;
  const combined = await createMergeCommit(own, { head, onto, method, message });
  if (!combined.ok) return { outcome: 'refused', base: onto, reason: renderGithubProblem(combined.problem) };
  const { value } = combined;
  if (value.kind === 'conflict') return { outcome: 'conflict', base: onto, reason: 'conflict', files: value.files };
  // The main branch already contains the whole change.
  if (value.kind === 'nothing') return { outcome: 'merged', base: onto, merge_sha: onto };
  const unseen = await findUncheckedByGithub(effect, own, value.sha);
  if (unseen.length > 0) return { outcome: 'failed', base: onto, reason: describeUncheckedByGithub(unseen) };
  const pinned = await pinCommits(own, [value.sha]);
  if (!pinned.ok) return { outcome: 'refused', base: onto, reason: renderGithubProblem(pinned.problem) };
  const checked = await checkMerged({ effect, context, signal }, value.sha);
  if (checked === undefined) return undefined;
  if (checked !== 'passed') return { outcome: 'failed', base: onto, ...checked };
  if (signal.aborted) return undefined;
  const command = { merge_id, branch, base: onto, merge_sha: value.sha };
  const recorded = await context.submit({ kind: 'prepare-merge', command });
  // Without a response the effect is retried. A refusal means that the merge was cancelled, and its branch stays.
  return recorded === undefined || recorded.refused !== undefined ? undefined : { sha: value.sha };
}

/** GitHub has checked only the head. If the merged tree differs, the outcome of those checks is unknown for it. */
async function findUncheckedByGithub(
  { head, checks }: MergeEffect,
  own: OwnRepository,
  sha: string,
): Promise<readonly string[]> {
  const elsewhere = checks.flatMap(({ name, run }) => (run === undefined ? [name] : []));
  return elsewhere.length === 0 || (await findTree(own, head)) === (await findTree(own, sha)) ? [] : elsewhere;
}

function describeUncheckedByGithub(names: readonly string[]): string {
  return `the main branch has moved on, and GitHub has not checked the two together (${names.join(', ')}): merge the main branch into yours, so that it does`;
}

interface PreparedMerge {
  readonly sha: string;
  readonly base: string;
  /** The branch has moved to the commit, and the daemon ended before it recorded that. */
  readonly isOnBranch: boolean;
}

/**
 * Returns the merge commit that was recorded before a crash, if the branch has it or can still move to it. The commit
 * is identified by its hash on the first-parent history, because its message proves nothing. `unknown` if the store
 * does not respond.
 */
async function findPrepared(
  { task_id, merge_id }: MergeEffect,
  { own, branch, onto }: MergeTarget,
  context: Pick<EffectContext, 'readState'>,
): Promise<PreparedMerge | 'unknown' | undefined> {
  const merge = await context.readState((state) => state.tasks.get(task_id)?.flow.merge ?? null);
  if (merge === undefined) return 'unknown';
  const prepared = merge?.id === merge_id ? merge.prepared : undefined;
  if (prepared === undefined || prepared.branch !== branch) return undefined;
  const { sha, base } = prepared;
  const found = await isOnFirstParents(own, { sha, since: base, head: onto });
  if (found.ok && found.value) return { sha, base, isOnBranch: true };
  // The commit was checked and the branch has not moved, so it is reused.
  return base === onto && hasCompleteCommit(own, sha) ? { sha, base, isOnBranch: false } : undefined;
}

/**
 * Returns why the merge lacks a record: a record must name the head, or an ancestor with only Baton's own merge commits
 * after it. Those are known from the ledger, because a committer's name proves nothing. `unknown` if the store does not
 * respond.
 */
async function findMissingRecord(
  { task_id, head }: Pick<MergeEffect, 'task_id' | 'head'>,
  context: Pick<EffectContext, 'ownRepository' | 'readState'>,
): Promise<typeof WRITEBACK_REQUIRED | 'unknown' | undefined> {
  const known = await context.readState((state) => {
    const task = state.tasks.get(task_id);
    const records = task === undefined ? [] : writebackRecords(task).map(({ commitSha }) => commitSha.toLowerCase());
    return { records, made: new Set([...state.tasks.values()].map(({ flow }) => flow.mergeSha)) };
  });
  if (known === undefined) return 'unknown';
  const { records, made } = known;
  if (records.includes(head)) return undefined;
  const own = await context.ownRepository.with(head);
  if (!own.ok) return WRITEBACK_REQUIRED;
  for (const sha of records.toReversed()) {
    const ancestor = await isAncestor(own.value, sha, head);
    if (!ancestor.ok || !ancestor.value) continue;
    const later = await readCommitsSince(own.value, sha, head);
    if (later.ok && later.value.every((commit) => made.has(commit))) return undefined;
  }
  return WRITEBACK_REQUIRED;
}
