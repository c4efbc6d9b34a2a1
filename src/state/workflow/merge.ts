import { type Caller, checkClaim, principalOf } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { findMain } from '../main/main-branch.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import { excerptEnd } from '../runs/excerpt.ts';
import type { State } from '../state.ts';
import { endClaim, phaseMovedEvent } from '../tasks/claim-task.ts';
import { refuseUnknownTask } from '../tasks/create-task.ts';
import { checkMayJudge, checkNoOpenDecision, checkRoleTurn, isSelfApproved, judgedHead } from '../tasks/judging.ts';
import { type HeldHandoff, type Task, writebackRecords } from '../tasks/task.ts';
import { findMissingMessages, refuseMissing, refuseUnrecorded } from '../tasks/writeback.ts';
import type { PendingMerge } from './flow.ts';
import { addMergeResult, fixerHandoff } from './gate-handoffs.ts';
import { needsAgreement } from './protected-paths.ts';
import type { MergeMethod, PullRepository, WorkflowEvents } from './workflow-event.ts';

export interface RequestMerge {
  readonly id: string;
  readonly mergeId: string;
}

/**
 * Requests the merge of a task. Allowed for the holder of the claim in the role that works next, for an operator and
 * for the engine.
 */
export function decideRequestMerge(
  state: State,
  { id, mergeId }: RequestMerge,
  caller: Caller,
  rules: Rules,
): Outcome<{ readonly merge_id: string }> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  const { claim } = task;
  const standing = checkMayRequestMerge(task, caller);
  if (!standing.ok) return standing;
  const { merge } = task.flow;
  if (merge !== null) return decided([], { merge_id: merge.id });
  if (task.phase !== 'READY_FOR_MERGE')
    return refusal(
      'not-mergeable',
      `task ${id} is ${task.phase}, not READY_FOR_MERGE`,
      `See the task: baton task show ${id}`,
    );
  const judge = checkMergePrincipal(state, task, caller, rules);
  if (!judge.ok) return judge;
  const missing = claim === null ? [] : findMissingMessages(task, claim, false);
  if (missing.length > 0) return refuseMissing(missing);
  const asked = requestMerge(task, claim?.handoff ?? null, mergeId, rules);
  if (!asked.ok) return asked;
  // The merge itself needs no claim, so the claim ends.
  const ended =
    claim === null ? [] : endClaim(task, { ...claim, handoff: null }, 'completed', 'the session requested the merge');
  return decided([...asked.events, ...ended], { merge_id: mergeId });
}

function checkMayRequestMerge(task: Task, caller: Caller): Outcome<null> {
  const { claim } = task;
  if (caller.kind !== 'session') {
    if (claim === null) return decided([], null);
    const message = `task ${task.id} is claimed by ${claim.holder}`;
    return refusal('already-claimed', message, 'Wait until the holder has validated it.');
  }
  const held = checkClaim(task, caller);
  return held.ok ? checkRoleTurn(task, held.claim.role) : held;
}

/** Checks the principal. The engine is none: the approver was checked before. */
function checkMergePrincipal(state: State, task: Task, caller: Caller, rules: Rules): Outcome<null> {
  if (task.flow.held !== null)
    return refusal(
      'held',
      `task ${task.id} waits for a person: ${task.flow.held.stage}`,
      'See the decision: baton decision list',
    );
  if (caller.kind === 'system') return checkNoOpenDecision(state, task);
  const principal = principalOf(state, caller);
  const judge = checkMayJudge(state, task, principal, rules);
  return judge.ok ? checkIsReviewed(task, principal) : judge;
}

/** Refuses a commit that was first recorded during review, because only its recorder has seen it. */
export function checkIsReviewed(task: Task, principal: string): Outcome<null> {
  if (task.flow.head !== null || isSelfApproved(task, principal) || writebackRecords(task).length === 0)
    return decided([], null);
  const message = `no commit of ${task.id} was recorded before its review: no review covers the commit to merge`;
  const hint = `An operator can approve the commit: baton merge ${task.id} --self-approve REASON`;
  return refusal('unreviewed', message, hint);
}

export function requestMerge(task: Task, handoff: HeldHandoff | null, mergeId: string, inForce: Rules): Outcome<null> {
  const rules = rulesFor(task, inForce);
  const head = judgedHead(task);
  const branch = task.flow.place?.branch ?? task.latestRecord?.branch;
  if (writebackRecords(task).length === 0 || head === undefined || branch === undefined) return refuseUnrecorded(task);
  const { approval } = task.flow;
  if (approval !== null && approval.head !== null && approval.head !== head) {
    const message = `the approval of ${task.id} was for ${approval.head.slice(0, 12)}, and its head is ${head.slice(0, 12)}`;
    return refusal('approval-void', message, 'A new commit voids an approval: have it reviewed again.');
  }
  const later = findLaterRecord(task, head);
  if (later !== undefined) {
    const message = `the newest record of ${task.id} names ${later.slice(0, 12)}, and ${head.slice(0, 12)} was checked and reviewed`;
    const hint = `Send the task back to have ${later.slice(0, 12)} checked and reviewed, or record the commit that is to be merged.`;
    return refusal('later-record', message, hint);
  }
  const { method, into } = rules.merge ?? { method: 'squash', into: null };
  const message = `task: ${task.id} — ${task.title}\n\nBaton-Task: ${task.id}\nBaton-Head: ${head}\n`;
  const { pull } = task.flow;
  const place = rules.pulls === undefined || pull === null ? {} : { pull: repositoryOf(pull) };
  const about = { merge_id: mergeId, task_id: task.id, head, branch, into: into ?? '', method, message, handoff };
  return decided([event('MergeRequested', { ...about, checks: rules.checks ?? [], ...place })], null);
}

/** Finds a commit that was recorded after the head, which merging the head would leave out. */
function findLaterRecord(task: Task, head: string): string | undefined {
  const newest = writebackRecords(task).at(-1);
  if (newest === undefined || newest.seq <= task.flow.headAt) return undefined;
  const sha = newest.commitSha.toLowerCase();
  return sha === head ? undefined : sha;
}

function repositoryOf({ repository, remote }: PullRepository): PullRepository {
  return { repository, remote };
}

export type PrepareMerge = Omit<WorkflowEvents['MergePrepared'], 'task_id' | 'head'>;

/** Prepares the merge; recorded before the branch moves. A cancelled merge is refused, and its branch does not move. */
export function decidePrepareMerge(state: State, made: PrepareMerge, rules: Rules): Outcome<null> {
  const { merge_id } = made;
  const task = findTaskOfMerge(state, merge_id);
  const merge = task?.flow.merge;
  if (task === undefined || !merge || task.phase !== 'READY_FOR_MERGE')
    return refusal('merge-called-off', `merge ${merge_id} was cancelled`, 'See the task: baton task list');
  if (needsAgreement(task, merge.head))
    return refusal('merge-called-off', `merge ${merge_id} waits for a person`, 'See: baton decision list');
  const asked = checkNoOpenDecision(state, task);
  if (!asked.ok) return asked;
  const held = findMainRefusal(state, made, rulesFor(task, rules).merge?.into ?? null);
  if (held !== null) return held;
  const { prepared } = merge;
  if (prepared?.sha === made.merge_sha && prepared.base === made.base && prepared.branch === made.branch)
    return decided([], null);
  return decided([event('MergePrepared', { ...made, task_id: task.id, head: merge.head })], null);
}

/**
 * Allows a merge only onto a recorded, accepted position. A workflow keeps its runbook's branch even if another is
 * observed.
 */
function findMainRefusal(
  state: State,
  { branch, base }: Pick<PrepareMerge, 'branch' | 'base'>,
  into: string | null,
): ReturnType<typeof refusal> | null {
  const main = findMain(state);
  if (main === undefined) return null;
  if (main.trusted !== null)
    return refusal(
      'main-held',
      `${main.branch} has commits that were not accepted`,
      'Answer the decision about them: baton decision list',
    );
  if (main.branch === branch ? main.sha === base : into === branch) return null;
  const message = `${branch} is at ${base.slice(0, 12)}, which is not on record yet`;
  return refusal('main-moved', message, 'Baton prepares the merge again.');
}

/**
 * Reports whether a merge can no longer be stopped: its commit is recorded, and the main branch has not moved
 * elsewhere.
 */
export function isLanding(state: State, { flow }: Task): boolean {
  const prepared = flow.merge?.prepared;
  if (prepared === undefined) return false;
  const main = findMain(state);
  if (main === undefined || main.branch !== prepared.branch) return true;
  return main.trusted === null && (main.sha === prepared.base || main.sha === prepared.sha);
}

function findTaskOfMerge({ tasks }: State, mergeId: string): Task | undefined {
  return [...tasks.values()].find(({ flow }) => flow.merge?.id === mergeId);
}

export interface FinishMerge extends Omit<WorkflowEvents['MergeFinished'], 'task_id' | 'head'> {
  readonly method: MergeMethod;
  /** The id of the handoff after a failure, or of the decision after a refusal. */
  readonly newId: string;
}

/**
 * Records the outcome of a merge. Merged: the task is completed, and its handoff is delivered. Otherwise it goes to the
 * fixer, or a person is asked.
 */
export function decideFinishMerge(state: State, command: FinishMerge): Outcome<null> {
  const { method: _, newId, ...result } = command;
  const task = findTaskOfMerge(state, result.merge_id);
  const merge = task?.flow.merge;
  if (task === undefined || !merge) return decided([], null);
  if (isUnprepared(merge, result)) {
    const message = `${result.merge_sha ?? ''} is not the commit that merge ${result.merge_id} has prepared`;
    return refusal('merge-not-prepared', message, 'See what was recorded: baton ledger log');
  }
  const output = result.output === null ? null : excerptEnd(result.output);
  const finished = event('MergeFinished', { ...result, output, task_id: task.id, head: merge.head });
  return decided([finished, ...afterMerge(task, merge.handoff, command, newId)], null);
}

/** Refuses a merge that is neither the recorded commit, nor GitHub's, nor empty. */
function isUnprepared(
  { prepared, isAtGithub }: PendingMerge,
  { outcome, merge_sha, base }: Pick<FinishMerge, 'outcome' | 'merge_sha' | 'base'>,
): boolean {
  if (outcome !== 'merged' || isAtGithub === true || merge_sha === base) return false;
  return merge_sha === null || prepared?.sha !== merge_sha;
}

export function refuseMerge(task: Task, { id, head, handoff }: PendingMerge, reason: string): Event[] {
  const result = { outcome: 'refused', reason, base: null, merge_sha: null, files: [], output: null } as const;
  const finished = event('MergeFinished', { merge_id: id, task_id: task.id, head, ...result });
  const blocked = task.phase === 'READY_FOR_MERGE' ? [mergeRefusedEvent(task, reason)] : [];
  return [finished, ...dropHandoff(handoff, reason), ...blocked];
}

function mergeRefusedEvent(task: Task, reason: string): Event {
  return phaseMovedEvent(task, 'BLOCKED', { cause: 'merge-refused', reason: `merge refused: ${reason}` });
}

function afterMerge(task: Task, handoff: HeldHandoff | null, command: FinishMerge, newId: string): Event[] {
  const { outcome, merge_sha, method, reason, files, output, failure = 'merged_tree' } = command;
  if (task.phase !== 'READY_FOR_MERGE') return dropHandoff(handoff, 'the task moved to another phase meanwhile');
  if (outcome === 'merged' && merge_sha !== null) {
    const delivered = handoff === null ? [] : [event('HandoffDelivered', addMergeResult(handoff, merge_sha, method))];
    const why = { cause: 'merged', reason: `merged as ${merge_sha}` } as const;
    return [...delivered, phaseMovedEvent(task, 'COMPLETED', why, handoff?.next_role ?? null)];
  }
  const dropped = dropHandoff(handoff, reason ?? outcome);
  if (outcome === 'refused') return [...dropped, mergeRefusedEvent(task, reason ?? '')];
  const found =
    outcome === 'conflict'
      ? { type: 'merge_conflict', text: `The branch cannot be merged into main. Conflicts in: ${files.join(', ')}` }
      : { type: failure, text: `${reason ?? 'a check failed'}\n${output ?? ''}` };
  const back = fixerHandoff(task, 'validator-agent', [found], newId);
  const why = { cause: 'merge-failed', reason: `merge failed: ${reason ?? outcome}` } as const;
  return [...dropped, event('HandoffDelivered', back), phaseMovedEvent(task, 'IMPLEMENTATION', why, 'fixer')];
}

function dropHandoff(handoff: HeldHandoff | null, reason: string): Event[] {
  return handoff === null ? [] : [event('HandoffDropped', { ...handoff, reason })];
}
