import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import type { Caller } from '../caller.ts';
import { checkClaim, refuseStaleClaim } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import { endClaim, phaseMovedEvent } from './end-claim.ts';
import type { Event } from '../event.ts';
import { event } from '../event.ts';
import { checkFilledIn } from './filled-in.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { isCancelled, type Task } from './task.ts';

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
