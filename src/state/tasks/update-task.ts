import type { TaskUpdate } from '../../protocol/task-update.ts';
import { actorOf, type Caller, checkClaim, principalOf, splitActor } from '../caller.ts';
import { type Event, event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { abandonClaim, endClaim, type MoveReason, phaseMovedEvent } from './claim-task.ts';
import { refuseUnknownTask } from './create-task.ts';
import { evolveTask } from './evolve-task.ts';
import { checkMayJudge, checkRoleTurn } from './judging.ts';
import { decideRecordThought, type RecordThought } from './record-session.ts';
import { type Claim, isApproval, isCancelled, type Status, type Task, taskStatus } from './task.ts';
import { checkGates, checkWriteback, hasWriteback } from './writeback.ts';

/** The status after the update, which is derived and may differ from the requested one. */
export type UpdateOutcome = Outcome<{ readonly status: Status }>;

/** Decides a report of a worker or operator: progress, or that a task is blocked, returned or done. */
export function decideUpdateTask(state: State, update: TaskUpdate, caller: Caller, rules: Rules): UpdateOutcome {
  const task = state.tasks.get(update.task_id);
  if (task === undefined) return refuseUnknownTask(update.task_id);
  const held = findClaim(task, caller);
  if (!held.ok) return held;
  const claim = held.answer;
  const progressed = progressEvents(task, claim, update);
  switch (update.status) {
    case 'done':
      if (isMeasured(state, caller)) return ONLY_BY_EXIT;
      return finishAsCaller(state, task, claim, caller, rules, progressed);
    case 'blocked':
      return blockTask(task, claim, update.notes ?? '', progressed);
    case 'todo':
      return returnTask(task, claim, update.notes ?? null, progressed);
    case 'in_progress':
      return recordProgress(task, claim, progressed);
  }
}

/**
 * Reports whether Baton measures the session at its end: then only its exit signal can report that its work is done.
 */
function isMeasured({ sessions }: State, caller: Caller): boolean {
  return caller.kind === 'session' && sessions.get(caller.sessionId)?.prepared !== undefined;
}

const ONLY_BY_EXIT = refusal(
  'missing',
  'cannot complete: missing exit signal',
  'This session was started with a mission. Record and submit your work, then run: baton emit exit',
);

/** Null for operators. */
function findClaim(task: Task, caller: Caller): Outcome<Claim | null> {
  if (caller.kind === 'operator') return decided([], null);
  if (caller.kind !== 'session')
    return refusal('no-claim', `task ${task.id} is not claimed by you`, `Claim the task: baton task claim ${task.id}`);
  const held = checkClaim(task, caller);
  return held.ok ? decided([], held.claim) : held;
}

/** The ledger contains whole numbers only. */
function progressEvents(task: Task, claim: Claim | null, { progress, notes }: TaskUpdate): Event[] {
  if (progress === undefined && notes === undefined) return [];
  const whole = progress === undefined ? null : Math.round(progress);
  const progressed = { task_id: task.id, epoch: claim?.epoch ?? null, progress: whole, notes: notes ?? null };
  return [event('TaskProgressed', progressed)];
}

/** Completes a task for a caller. From review that is an approval, which an author must not give. */
function finishAsCaller(
  state: State,
  task: Task,
  claim: Claim | null,
  caller: Caller,
  rules: Rules,
  progressed: readonly Event[],
): UpdateOutcome {
  const finished = finishTask(task, claim, rules, progressed);
  if (!finished.ok || !isApproval(task.phase, 'COMPLETED')) return finished;
  const turn = claim === null ? decided([], null) : checkRoleTurn(task, claim.role);
  const judge = turn.ok ? checkMayJudge(state, task, principalOf(state, caller), rules) : turn;
  return judge.ok ? finished : judge;
}

/** Completes a task in one transaction: checks record and gates, ends the claim, and completes the task. */
export function finishTask(task: Task, claim: Claim | null, rules: Rules, progressed: readonly Event[]): UpdateOutcome {
  if (task.phase === 'COMPLETED') return updated(task, []);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  const written = checkWriteback(task, claim);
  if (!written.ok) return written;
  const passed = checkGates(task, 'COMPLETED', rules);
  if (!passed.ok) return passed;
  return updated(task, [
    ...progressed,
    ...completionEvents(task, claim, {
      cause: 'completed',
      reason: claim === null ? 'completed by an operator' : 'done',
    }),
  ]);
}

/** An operator's completion ends the current claim: completed if the record was made under it, else revoked. */
export function completionEvents(task: Task, claim: Claim | null, why: MoveReason): Event[] {
  const done = phaseMovedEvent(task, 'COMPLETED', why, null);
  if (claim !== null) return [...endClaim(task, claim, 'completed', null), done];
  if (task.claim === null) return [done];
  const how = hasWriteback(task, task.claim) ? 'completed' : 'revoked';
  return [...endClaim(task, task.claim, how, why.reason), done];
}

function blockTask(task: Task, claim: Claim | null, reason: string, progressed: readonly Event[]): UpdateOutcome {
  if (task.phase === 'COMPLETED') return refuseCompleted(task);
  if (isCancelled(task)) return refuseCancelled(task);
  if (task.phase === 'BLOCKED') return updated(task, progressed);
  const live = claim ?? task.claim;
  const ended = live === null ? [] : endClaim(task, live, 'blocked', reason);
  return updated(task, [...progressed, ...ended, phaseMovedEvent(task, 'BLOCKED', { cause: 'updated', reason })]);
}

function returnTask(
  task: Task,
  claim: Claim | null,
  reason: string | null,
  progressed: readonly Event[],
): UpdateOutcome {
  if (claim !== null) return updated(task, [...progressed, ...abandonClaim(task, claim, 'released', reason)]);
  if (task.phase === 'COMPLETED') return refuseCompleted(task);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  const revoked = task.claim === null ? [] : abandonClaim(task, task.claim, 'revoked', reason);
  return updated(task, [...progressed, ...revoked]);
}

function recordProgress(task: Task, claim: Claim | null, progressed: readonly Event[]): UpdateOutcome {
  if (claim === null && task.phase === 'COMPLETED') return refuseCompleted(task);
  if (claim === null && task.phase === 'BLOCKED') return refuseBlocked(task);
  return updated(task, progressed);
}

function updated(task: Task, events: readonly Event[]): UpdateOutcome {
  const after = events.reduce((before, each) => evolveTask(before, { ...each, seq: 0, at: '' }), task);
  return decided(events, { status: taskStatus(after) });
}

export function refuseCompleted({ id }: Task): ReturnType<typeof refusal> {
  return refusal(
    'completed',
    `task ${id} is completed`,
    'Reinstate the task first: a thought record with status todo.',
  );
}

export function refuseBlocked(task: Task): ReturnType<typeof refusal> {
  if (isCancelled(task)) return refuseCancelled(task);
  const { id, blocked } = task;
  return refusal(
    'blocked',
    `task ${id} is blocked: ${blocked?.reason ?? ''}`,
    `First: baton task unblock ${id} --reason "…"`,
  );
}

export function refuseCancelled({ id, blocked }: Task): ReturnType<typeof refusal> {
  return refusal(
    'cancelled',
    `task ${id} is ${blocked?.reason ?? 'cancelled'}`,
    `To work on it again: baton task reinstate ${id} --reason "…"`,
  );
}

/** Records and completes in one transaction, both or neither. */
export function decideCompleteTask(state: State, command: RecordThought, caller: Caller, rules: Rules): UpdateOutcome {
  const task = state.tasks.get(command.record.task_id);
  if (task === undefined) return refuseUnknownTask(command.record.task_id);
  if (command.record.status === 'todo') {
    const message = 'a record with status todo reinstates the task; it cannot complete it';
    return refusal('reinstates', message, 'Leave the status out.');
  }
  if (isMeasured(state, caller)) return ONLY_BY_EXIT;
  const held = findClaim(task, caller);
  if (!held.ok) return held;
  const recorded = decideRecordThought(state, command, caller);
  if (!recorded.ok) return recorded;
  const withRecord = recorded.events.reduce((before, each, i) => {
    return evolveTask(before, { ...each, seq: state.seq + 1 + i, at: '', ...splitActor(actorOf(caller)) });
  }, task);
  const finished = finishAsCaller(state, withRecord, held.answer, caller, rules, []);
  return finished.ok ? decided([...recorded.events, ...finished.events], finished.answer) : finished;
}
