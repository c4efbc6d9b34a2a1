import type { Phase } from '../../protocol/phase.ts';
import { checkClaim, refuseStaleClaim, type Caller } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import type { Event, EventOf, HowClaimEnded } from '../event.ts';
import { CLAIM_ENDS, event } from '../event.ts';
import type { MoveCause } from '../move-cause.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { Claim, Task } from './task.ts';

export interface ReleaseClaim {
  readonly id: string;
  /** Which claim an operator means; the live one where left out. A session has only its own. */
  readonly epoch?: number;
  readonly reason?: string;
}

export interface ExpireClaim {
  readonly id: string;
  readonly epoch: number;
  readonly reason?: string;
}

/** The holder gives the task back, or an operator takes it away. */
export function decideReleaseClaim(state: State, command: ReleaseClaim, caller: Caller): Outcome<null> {
  const { id, epoch, reason } = command;
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (caller.kind !== 'session')
    return endNewestClaim(task, epoch ?? task.epoch, 'revoked', reason ?? 'revoked by an operator');
  const held = checkClaim(task, caller);
  return held.ok ? decided(abandonClaim(task, held.claim, 'released', reason ?? null), null) : held;
}

/** Its time has run out. Whoever finds out names the epoch they saw: a newer claim is none of their business. */
export function decideExpireClaim(state: State, { id, epoch, reason }: ExpireClaim): Outcome<null> {
  const task = state.tasks.get(id);
  return task === undefined
    ? refuseUnknownTask(id)
    : endNewestClaim(task, epoch, 'expired', reason ?? 'not renewed in time');
}

function endNewestClaim(task: Task, epoch: number, how: HowClaimEnded, reason: string): Outcome<null> {
  if (epoch < task.epoch) return refuseStaleClaim(epoch, task.epoch, `See it: baton task show ${task.id}`);
  const { claim } = task;
  if (claim?.epoch === epoch) return decided(abandonClaim(task, claim, how, reason), null);
  const message =
    epoch === 0 ? `nobody has claimed task ${task.id}` : `task ${task.id} has no live claim of epoch ${epoch}`;
  return refusal('claim-ended', message, `See it: baton task show ${task.id}`);
}

/** The end of a claim, and of a handoff that it still holds: what is not delivered is dropped, and nothing just vanishes. */
export function endClaim(task: Task, claim: Claim, how: HowClaimEnded, reason: string | null): Event[] {
  const { epoch, sessionId, handoff } = claim;
  const ended = event(CLAIM_ENDS[how], { task_id: task.id, epoch, session_id: sessionId, reason });
  if (handoff === null) return [ended];
  return [event('HandoffDropped', { ...handoff, reason: `the claim ended: ${how}` }), ended];
}

/** The same where the work just stops: a review that was begun waits for the next reviewer. */
export function abandonClaim(task: Task, claim: Claim, how: HowClaimEnded, reason: string | null): Event[] {
  const ended = endClaim(task, claim, how, reason);
  const isOpenReview = task.phase === 'REVIEW' && claim.from === 'READY_FOR_REVIEW';
  return isOpenReview
    ? [
        ...ended,
        phaseMovedEvent(task, 'READY_FOR_REVIEW', { cause: 'review-ended', reason: `the review ended: ${how}` }),
      ]
    : ended;
}

/** Why a task is moved: the cause for the rules, the reason for people. */
export interface MoveReason {
  readonly cause: Exclude<MoveCause, 'unrecorded'>;
  readonly reason: string;
}

/** A change of phase. The next role stays as it is unless one is named. */
export function phaseMovedEvent(
  task: Task,
  to: Phase,
  { cause, reason }: MoveReason,
  nextRole: string | null = task.nextRole,
): EventOf<'PhaseMoved'> {
  return event('PhaseMoved', { task_id: task.id, from: task.phase, to, next_role: nextRole, cause, reason });
}
