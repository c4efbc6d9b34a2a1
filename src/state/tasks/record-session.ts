import { findPlaceholder } from '../../protocol/placeholder.ts';
import type { Result } from '../../protocol/result.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { type Caller, checkClaim, refuseStaleClaim } from '../caller.ts';
import { type Event, event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';
import { endClaim, phaseMovedEvent } from './claim-task.ts';
import { refuseUnknownTask } from './create-task.ts';
import { isCancelled, missionIds, type Task } from './task.ts';
import type { RuleCheck } from './writeback.ts';

export interface RecordThought {
  readonly recordId: string;
  readonly record: ThoughtRecord;
  /** An operator who records for the holder of a claim names its epoch. */
  readonly epoch?: number;
}

/** The account of what was done. With `status: todo` it is an account of undone work, and reinstates the task. */
export function decideRecordThought(
  state: State,
  command: RecordThought,
  caller: Caller,
): Outcome<{ readonly recordId: string }> {
  const { recordId, record } = command;
  const task = state.tasks.get(record.task_id);
  if (task === undefined) return refuseUnknownTask(record.task_id);
  const epoch = findEpoch(task, command, caller);
  if (!epoch.ok) return epoch;
  const filled = checkFilledIn('record', record);
  if (!filled.ok) return filled;
  const recorded = event('ThoughtRecorded', { record_id: recordId, task_id: task.id, epoch: epoch.answer, record });
  const reinstated = record.status === 'todo' ? reinstate(task, record.notes ?? record.summary) : [];
  return decided([recorded, ...reinstated], { recordId });
}

/** The epoch under which, or for which, a record is made; null for an operator who records for nobody. */
function findEpoch(task: Task, { epoch }: RecordThought, caller: Caller): Outcome<number | null> {
  if (caller.kind === 'session') {
    const held = checkClaim(task, caller);
    return held.ok ? decided([], held.claim.epoch) : held;
  }
  if (caller.kind === 'worker') {
    return refusal('no-claim', 'without a claim only operators record', `Claim it first: baton task claim ${task.id}`);
  }
  if (epoch === undefined) return decided([], null);
  if (epoch < task.epoch) return refuseStaleClaim(epoch, task.epoch, 'Name the live epoch.');
  if (task.claim?.epoch === epoch) return decided([], epoch);
  return refusal('claim-ended', `task ${task.id} has no live claim of epoch ${epoch}`, 'Leave the epoch out.');
}

/**
 * The work begins again, from IMPLEMENTATION and for whoever comes, since the role whose turn it was is the role of work that is
 * no more. Whoever was at it is no more either, and dependants wait again by themselves.
 */
export function reinstate(task: Task, reason: string): Event[] {
  const ended = task.claim === null ? [] : endClaim(task, task.claim, 'revoked', 'the task was reinstated');
  // A workflow that was cancelled goes on as one: without a role none of its workers would take it.
  const role = isCancelled(task) && task.flow.mode !== null ? 'implementer' : null;
  const stays = task.phase === 'IMPLEMENTATION' && task.nextRole === null;
  const moves = stays ? [] : [phaseMovedEvent(task, 'IMPLEMENTATION', { cause: 'reinstated', reason }, role)];
  return [...ended, event('TaskReinstated', { task_id: task.id, reason }), ...moves];
}

export interface SubmitResult {
  readonly result: Result;
}

/** What a session reports about its mission. The newest counts: an agent may correct itself until it leaves. */
export function decideSubmitResult(
  state: State,
  { result }: SubmitResult,
  caller: Caller,
): Outcome<{ readonly task_id: string; readonly status: Result['status'] }> {
  if (caller.kind !== 'session')
    return refusal('no-claim', 'only a session hands in a result', 'Use the token of the claim.');
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  if (!held.ok) return held;
  const { taskId } = missionIds(task);
  if (result.task_id !== taskId)
    return refusal('wrong-task', `the result is about ${result.task_id}, the mission about ${taskId}`, 'Correct it.');
  const filled = checkFilledIn('result', result);
  if (!filled.ok) return filled;
  const { epoch, sessionId } = held.claim;
  const submitted = event('ResultSubmitted', { task_id: task.id, epoch, session_id: sessionId, result });
  return decided([submitted], { task_id: task.id, status: result.status });
}

/** A form that was sent as Baton wrote it reports nothing: records, results and handoffs are refused until it is filled in. */
export function checkFilledIn(what: 'record' | 'result' | 'handoff', message: unknown): RuleCheck {
  const path = findPlaceholder(message);
  if (path === undefined) return { ok: true };
  const text = `the field ${path} of the ${what} still holds the placeholder of the form`;
  return refusal(
    'placeholder',
    text,
    `Fill in ${path}, or remove it if it is an item of a list, then send the ${what} again.`,
  );
}

/** What was measured of a session that ended without an exit signal; one that sent a signal was measured with that. */
export interface MeasureSession {
  readonly sessionId: string;
  readonly measured: Omit<WorkflowEvents['SessionMeasured'], 'task_id' | 'epoch' | 'session_id' | 'violations'>;
  readonly violations: readonly string[];
}

/** Nothing comes of it where the session goes on, was measured already, or somebody else has the task by now. */
export function decideMeasureSession(
  state: State,
  { sessionId: session_id, measured, violations }: MeasureSession,
): Outcome<null> {
  const session = state.sessions.get(session_id);
  const task = state.tasks.get(session?.taskId ?? '');
  if (
    session?.prepared === undefined ||
    session.measured === true ||
    task?.epoch !== session.epoch ||
    task.claim !== null
  )
    return decided([], null);
  const { epoch } = session;
  return decided([event('SessionMeasured', { task_id: task.id, epoch, session_id, ...measured, violations })], null);
}
