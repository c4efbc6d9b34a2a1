import type { Caller } from '../caller.ts';
import { endClaim, moveTo } from '../end-claim.ts';
import { event, type Event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import { findOwed, refuseMissing } from '../owed.ts';
import type { Rules } from '../rules.ts';
import { lastOf } from '../runs/last-of.ts';
import type { State } from '../state.ts';
import { writebacks, type HeldHandoff, type Task } from '../task.ts';
import { noSuchTask } from '../create-task.ts';
import { WRITEBACK_REQUIRED } from '../writeback.ts';
import { toFixer, withMerge } from './gate-handoffs.ts';
import type { MergeMethod, PullPlace, WorkflowEvents } from './workflow-event.ts';

export interface RequestMerge {
  readonly id: string;
  readonly mergeId: string;
}

/** Somebody asks for the merge of a task that is ready for it: an agent that validated it, or a person. */
export function decideRequestMerge(
  state: State,
  { id, mergeId }: RequestMerge,
  caller: Caller,
  rules: Rules,
): Outcome<{ readonly merge_id: string }> {
  const task = state.tasks.get(id);
  if (task === undefined) return noSuchTask(id);
  const { merge } = task.flow;
  if (merge !== null) return decided([], { merge_id: merge.id });
  if (task.phase !== 'READY_FOR_MERGE')
    return refusal(
      'not-mergeable',
      `task ${id} is ${task.phase}, not READY_FOR_MERGE`,
      `See it: baton task show ${id}`,
    );
  const { claim } = task;
  const isOwn = caller.kind === 'session' && caller.sessionId === claim?.sessionId;
  if (claim !== null && !isOwn)
    return refusal('already-claimed', `task ${id} is claimed by ${claim.holder}`, 'Wait until they have validated it.');
  const missing = claim === null ? [] : findOwed(task, claim, false);
  if (missing.length > 0) return refuseMissing(missing);
  const asked = requestMerge(task, claim?.handoff ?? null, mergeId, rules);
  if (!asked.ok) return asked;
  // Whoever holds it has done their part: the rest is the merge's.
  const ended = claim === null ? [] : endClaim(task, { ...claim, handoff: null }, 'completed', 'asked for the merge');
  return decided([...asked.events, ...ended], { merge_id: mergeId });
}

/** The entry that asks for a merge, or why there can be none. */
export function requestMerge(task: Task, handoff: HeldHandoff | null, mergeId: string, rules: Rules): Outcome<null> {
  const records = writebacks(task);
  const head = task.flow.head ?? records.at(-1)?.commitSha;
  const branch = task.flow.place?.branch ?? task.latestRecord?.branch;
  if (records.length === 0 || head === undefined || branch === undefined)
    return refusal(
      'writeback-required',
      WRITEBACK_REQUIRED,
      `Record what was done: baton thought record - (task_id ${task.id})`,
    );
  const { approval } = task.flow;
  if (approval !== null && approval.head !== null && approval.head !== head) {
    const message = `the approval of ${task.id} was for ${approval.head.slice(0, 12)}, and its head is ${head.slice(0, 12)}`;
    return refusal('approval-void', message, 'A new commit voids an approval: have it reviewed again.');
  }
  const { method, into } = rules.merge ?? { method: 'squash', into: null };
  const message = `task: ${task.id} — ${task.title}\n\nBaton-Task: ${task.id}\nBaton-Head: ${head}\n`;
  const checks = rules.checks ?? [];
  return decided(
    [
      event('MergeRequested', {
        merge_id: mergeId,
        task_id: task.id,
        head,
        branch,
        into: into ?? '',
        method,
        checks,
        message,
        ...(rules.pulls === undefined || task.flow.pull === null ? {} : { pull: placeOf(task.flow.pull) }),
        handoff,
      }),
    ],
    null,
  );
}

function placeOf({ repository, remote }: PullPlace): PullPlace {
  return { repository, remote };
}

/** How a merge went. */
export interface FinishMerge extends Omit<WorkflowEvents['MergeFinished'], 'merge_id' | 'task_id' | 'head'> {
  readonly mergeId: string;
  readonly method: MergeMethod;
  /** For the handoff that a failure leads to, and for the question that a refusal leads to. */
  readonly newId: string;
}

/** Merged: the task is done, and its handoff is delivered. Otherwise it goes to the fixer, or a person is asked. */
export function decideFinishMerge(state: State, command: FinishMerge): Outcome<null> {
  const { mergeId, method: _, newId, ...result } = command;
  const task = [...state.tasks.values()].find(({ flow }) => flow.merge?.id === mergeId);
  const merge = task?.flow.merge;
  if (task === undefined || !merge) return decided([], null);
  const output = result.output === null ? null : lastOf(result.output);
  const finished = event('MergeFinished', { ...result, output, merge_id: mergeId, task_id: task.id, head: merge.head });
  return decided([finished, ...afterMerge(task, merge.handoff, command, newId)], null);
}

/** It cannot even be tried. */
export function refuseMerge(
  task: Task,
  { id, head, handoff }: NonNullable<Task['flow']['merge']>,
  reason: string,
): Event[] {
  const nothing = { base: null, merge_sha: null, files: [], output: null };
  const finished = event('MergeFinished', {
    merge_id: id,
    task_id: task.id,
    head,
    outcome: 'refused',
    reason,
    ...nothing,
  });
  const dropped = handoff === null ? [] : [drop(handoff, reason)];
  const isMoved = task.phase !== 'READY_FOR_MERGE';
  return [finished, ...dropped, ...(isMoved ? [] : [moveTo(task, 'BLOCKED', `merge refused: ${reason}`)])];
}

function afterMerge(task: Task, handoff: HeldHandoff | null, command: FinishMerge, newId: string): Event[] {
  const { outcome, merge_sha, method, reason, files, output } = command;
  if (task.phase !== 'READY_FOR_MERGE') return handoff === null ? [] : [drop(handoff, 'the task was moved meanwhile')];
  if (outcome === 'merged' && merge_sha !== null) {
    const delivered = handoff === null ? [] : [event('HandoffDelivered', withMerge(handoff, merge_sha, method))];
    return [...delivered, moveTo(task, 'COMPLETED', `merged as ${merge_sha}`, handoff?.next_role ?? null)];
  }
  const dropped = handoff === null ? [] : [drop(handoff, reason ?? outcome)];
  if (outcome === 'refused') return [...dropped, moveTo(task, 'BLOCKED', `merge refused: ${reason ?? ''}`)];
  const failures =
    outcome === 'conflict'
      ? [{ type: 'merge_conflict', text: `The branch cannot be merged into main. Conflicts in: ${files.join(', ')}` }]
      : [
          {
            type: reason === WRITEBACK_REQUIRED ? 'writeback' : 'merged_tree',
            text: `${reason ?? 'a check failed'}\n${output ?? ''}`,
          },
        ];
  const back = toFixer(task, 'validator-agent', failures, newId);
  return [
    ...dropped,
    event('HandoffDelivered', back),
    moveTo(task, 'IMPLEMENTATION', `merge failed: ${reason ?? outcome}`, 'fixer'),
  ];
}

function drop(handoff: HeldHandoff, reason: string): Event {
  return event('HandoffDropped', { ...handoff, reason });
}
