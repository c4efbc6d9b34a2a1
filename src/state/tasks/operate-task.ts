import { event, type Event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import type { State } from '../state.ts';
import { isLanding } from '../workflow/merge.ts';
import { endClaim, type MoveReason, phaseMovedEvent } from './claim-task.ts';
import { refuseUnknownTask } from './create-task.ts';
import { reinstate } from './record-session.ts';
import { isCancelled, JUDGED_PHASES, type Task } from './task.ts';
import { completionEvents, refuseBlocked, refuseCancelled } from './update-task.ts';

/** Actions that only operators may take, each with a recorded reason. */
export interface OperateTask {
  readonly id: string;
  readonly action: 'unblock' | 'reinstate' | 'cancel' | 'waive';
  readonly reason: string;
}

export function decideOperateTask(state: State, { id, action, reason }: OperateTask, rules: Rules): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (reason.trim() === '')
    return refusal('no-reason', `a reason is needed to ${action} a task`, 'Add --reason TEXT; it is recorded.');
  switch (action) {
    case 'unblock':
      return decideUnblock(task, reason, rules);
    case 'reinstate':
      return decided(reinstate(task, reason), null);
    case 'cancel':
      return decideCancel(state, task, reason);
    case 'waive':
      return decideWaive(task, reason);
  }
}

function decideUnblock(task: Task, reason: string, rules: Rules): Outcome<null> {
  if (isCancelled(task)) return refuseCancelled(task);
  if (task.blocked === null)
    return refusal('not-blocked', `task ${task.id} is not blocked`, `See the task: baton task show ${task.id}`);
  return decided(returnFromBlocked(task, { cause: 'unblocked', reason }, rules), null);
}

/**
 * Cancels a task. Only reinstating ends a cancellation. The engine ends the task's runs and decisions in the same
 * commit: see `engine/cancel.ts`.
 */
function decideCancel(state: State, task: Task, reason: string): Outcome<null> {
  if (isCancelled(task)) return decided([], null);
  if (task.phase === 'COMPLETED')
    return refusal('completed', `task ${task.id} is completed`, 'There is nothing to cancel.');
  if (isLanding(state, task))
    return refusal(
      'merging',
      `task ${task.id} is being merged: its merge commit is on record`,
      `See how it ends: baton task show ${task.id}`,
    );
  const ended = task.claim === null ? [] : endClaim(task, task.claim, 'revoked', reason);
  return decided(
    [...ended, phaseMovedEvent(task, 'BLOCKED', { cause: 'cancelled', reason: `cancelled: ${reason}` })],
    null,
  );
}

/**
 * Completes a task on an operator's responsibility, without a record or with gates that were not passed; the waiver is
 * recorded.
 */
function decideWaive(task: Task, reason: string): Outcome<null> {
  if (task.phase === 'COMPLETED') return decided([], null);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  const waived = event('WritebackWaived', { task_id: task.id, reason });
  return decided([waived, ...completionEvents(task, null, { cause: 'waived', reason: `waived: ${reason}` })], null);
}

/**
 * Returns a blocked task to its previous phase. If that is a judged phase and the branch has a newer commit than the
 * judged one, no check has seen that commit: the task goes to the checks or to the fixer instead.
 */
export function returnFromBlocked(task: Task, why: MoveReason, rules: Rules): Event[] {
  const { blocked } = task;
  // Neither a timer nor an older decision brings a cancelled task back.
  if (blocked === null || isCancelled(task)) return [];
  return JUDGED_PHASES.has(blocked.from) && hasUnjudgedHead(task)
    ? sendBackToChecks(task, why, rules)
    : [phaseMovedEvent(task, blocked.from, why)];
}

/**
 * Reports whether a judging session committed to the work. Unknown for a task that came to judgement without a commit.
 */
export function hasUnjudgedHead({ flow: { judged = null, head } }: Task): boolean {
  return judged !== null && head !== judged;
}

/** Sends the task to the checks if there are any, else to the fixer. A task without roles keeps none. */
export function sendBackToChecks(task: Task, { cause, reason }: MoveReason, rules: Rules): Event[] {
  const { judged, head } = task.flow;
  const why = `${reason}; ${head?.slice(0, 12) ?? ''} was committed after ${judged?.slice(0, 12) ?? ''} came to review`;
  const [to, role] = rulesFor(task, rules).ciGate
    ? (['CI_PENDING', 'reviewer'] as const)
    : (['IMPLEMENTATION', 'fixer'] as const);
  return [phaseMovedEvent(task, to, { cause, reason: why }, task.nextRole === null ? null : role)];
}
