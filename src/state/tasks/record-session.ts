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
import { findUndoneBasis, type UndoneBasis } from './reinstate-undone.ts';
import { isCancelled, missionIds, type Task } from './task.ts';
import type { RuleCheck } from './writeback.ts';

export interface RecordThought {
  readonly recordId: string;
  readonly record: ThoughtRecord;
  /** An operator who records for the holder of a claim names its epoch. */
  readonly epoch?: number;
}

/**
 * Records a thought record. `status: todo` records undone work and reinstates the task: for its holder, for an
 * operator, and, if reconciliation found the work undone, for any caller.
 */
export function decideRecordThought(
  state: State,
  command: RecordThought,
  caller: Caller,
): Outcome<{ readonly recordId: string }> {
  const { recordId, record } = command;
  const task = state.tasks.get(record.task_id);
  if (task === undefined) return refuseUnknownTask(record.task_id);
  const isUndone = record.status === 'todo' && isWithoutClaim(task, caller);
  const basis = isUndone ? findUndoneBasis(state, task, caller) : undefined;
  if (basis?.ok === false) return basis;
  const epoch = isUndone ? decided([], null) : findEpoch(task, command, caller);
  if (!epoch.ok) return epoch;
  const filled = checkFilledIn('record', record);
  if (!filled.ok) return filled;
  const recorded = event('ThoughtRecorded', { record_id: recordId, task_id: task.id, epoch: epoch.answer, record });
  const reinstated = record.status === 'todo' ? reinstate(task, record.notes ?? record.summary, basis?.answer) : [];
  return decided([recorded, ...reinstated], { recordId });
}

function isWithoutClaim({ id }: Task, caller: Caller): boolean {
  return caller.kind === 'session' ? caller.taskId !== id : caller.kind !== 'operator';
}

/** The epoch under which, or for which, a record is made; null for an operator's own record. */
function findEpoch(task: Task, { epoch }: RecordThought, caller: Caller): Outcome<number | null> {
  if (caller.kind === 'session') {
    const held = checkClaim(task, caller);
    return held.ok ? decided([], held.claim.epoch) : held;
  }
  if (caller.kind !== 'operator')
    return refusal(
      'no-claim',
      'without a claim, only operators can record',
      `Claim the task first: baton task claim ${task.id}`,
    );
  if (epoch === undefined) return decided([], null);
  if (epoch < task.epoch) return refuseStaleClaim(epoch, task.epoch, 'Name the live epoch.');
  if (task.claim?.epoch === epoch) return decided([], epoch);
  return refusal('claim-ended', `task ${task.id} has no live claim of epoch ${epoch}`, 'Leave the epoch out.');
}

/** Restarts the work in IMPLEMENTATION, for any role, and ends the current claim. */
export function reinstate(task: Task, reason: string, basis?: UndoneBasis): Event[] {
  const ended = task.claim === null ? [] : endClaim(task, task.claim, 'revoked', 'the task was reinstated');
  // A cancelled workflow continues as one: without a role none of its workers would claim it.
  const role = isCancelled(task) && task.flow.mode !== null ? 'implementer' : null;
  const stays = task.phase === 'IMPLEMENTATION' && task.nextRole === null;
  const moves = stays ? [] : [phaseMovedEvent(task, 'IMPLEMENTATION', { cause: 'reinstated', reason }, role)];
  return [...ended, event('TaskReinstated', { task_id: task.id, reason, ...basis }), ...moves];
}

export interface SubmitResult {
  readonly result: Result;
}

/** Records a result. The newest counts, because an agent may correct it until its session ends. */
export function decideSubmitResult(
  state: State,
  { result }: SubmitResult,
  caller: Caller,
): Outcome<{ readonly task_id: string; readonly status: Result['status'] }> {
  if (caller.kind !== 'session')
    return refusal('no-claim', 'only a session can submit a result', 'Use the token of the claim.');
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  if (!held.ok) return held;
  const { taskId } = missionIds(task);
  if (result.task_id !== taskId)
    return refusal(
      'wrong-task',
      `the result is about ${result.task_id}, but the mission is about ${taskId}`,
      'Correct it.',
    );
  const filled = checkFilledIn('result', result);
  if (!filled.ok) return filled;
  const { epoch, sessionId } = held.claim;
  const submitted = event('ResultSubmitted', { task_id: task.id, epoch, session_id: sessionId, result });
  return decided([submitted], { task_id: task.id, status: result.status });
}

/** Refuses records, results and handoffs that were sent as Baton's unfilled form. */
export function checkFilledIn(what: 'record' | 'result' | 'handoff', message: unknown): RuleCheck {
  const path = findPlaceholder(message);
  if (path === undefined) return { ok: true };
  const hint = `Fill in ${path}, or remove it if it is an item of a list, then send the ${what} again.`;
  return refusal('placeholder', `the field ${path} of the ${what} still has the placeholder of the form`, hint);
}

/** The measurement of a session that ended without an exit signal. */
export interface MeasureSession {
  readonly sessionId: string;
  readonly measured: Omit<WorkflowEvents['SessionMeasured'], 'task_id' | 'epoch' | 'session_id' | 'violations'>;
  readonly violations: readonly string[];
}

/** Measures a session. Does nothing if the session continues, was measured already, or the task has another claim. */
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
