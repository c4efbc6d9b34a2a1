import type { Caller } from './caller.ts';
import { requireClaim } from './caller.ts';
import { noSuchTask } from './create-task.ts';
import type { Event, HowClaimEnded, Requirement } from './event.ts';
import { CLAIM_ENDS, event } from './event.ts';
import { decided, refusal, type Outcome } from './outcome.ts';
import type { Rules } from './rules.ts';
import type { State } from './state.ts';
import { isWorkable, type Claim, type Task } from './task.ts';

export interface ClaimTask {
  readonly id: string;
  readonly sessionId: string;
  /** Who works: a name that people recognise. */
  readonly holder: string;
  readonly role?: string;
  readonly requires?: readonly Requirement[];
}

/** The exclusive right to work on a task. Its epoch is larger than that of every claim before it. */
export function decideClaimTask(state: State, command: ClaimTask, rules: Rules): Outcome<{ readonly epoch: number }> {
  const task = state.tasks.get(command.id);
  if (task === undefined) return noSuchTask(command.id);
  const obstacle = findObstacle(state, task, rules);
  if (obstacle !== undefined) return refusal(obstacle.code, obstacle.message, 'Find another: baton task next');
  if (command.role !== undefined && task.nextRole !== null && command.role !== task.nextRole) {
    const message = `task ${task.id} waits for a ${task.nextRole}, not for a ${command.role}`;
    return refusal('wrong-role', message, `Claim it with --role ${task.nextRole}.`);
  }
  const epoch = task.epoch + 1;
  const claimed = event('TaskClaimed', {
    task_id: task.id,
    epoch,
    session_id: command.sessionId,
    holder: command.holder,
    role: command.role ?? null,
    requires: command.requires ?? [],
  });
  const inReview = task.phase === 'READY_FOR_REVIEW' ? [moveTo(task, 'REVIEW', 'claimed for review')] : [];
  return decided([claimed, ...inReview], { epoch });
}

/** Why nobody can claim this task now; undefined where somebody can. */
export function findObstacle(
  state: State,
  task: Task,
  rules: Rules,
): { readonly code: string; readonly message: string } | undefined {
  if (task.claim !== null)
    return { code: 'already-claimed', message: `task ${task.id} is claimed by ${task.claim.holder}` };
  if (!isWorkable(task.phase, rules.ciGate)) {
    const why = task.blocked === null ? '' : ` (${task.blocked.reason})`;
    return { code: 'not-workable', message: `task ${task.id} is ${task.phase}${why}` };
  }
  const open = task.after.filter((before) => state.tasks.get(before)?.phase !== 'COMPLETED');
  if (open.length > 0) return { code: 'waits', message: `task ${task.id} waits for ${open.join(', ')}` };
  return undefined;
}

export function isClaimable(state: State, task: Task, rules: Rules): boolean {
  return findObstacle(state, task, rules) === undefined;
}

export interface EndClaim {
  readonly id: string;
  readonly epoch: number;
  readonly reason?: string;
}

/** The holder gives the task back. */
export function decideReleaseClaim(state: State, { id, reason }: EndClaim, caller: Caller): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return noSuchTask(id);
  if (caller.kind !== 'session') return endNewest(task, task.epoch, 'revoked', reason ?? 'revoked by an operator');
  const held = requireClaim(task, caller);
  return held.ok ? decided(abandonClaim(task, held.claim, 'released', reason ?? null), null) : held;
}

/** Its time has run out. Whoever finds out names the epoch they saw: a newer claim is none of their business. */
export function decideExpireClaim(state: State, { id, epoch, reason }: EndClaim): Outcome<null> {
  const task = state.tasks.get(id);
  return task === undefined ? noSuchTask(id) : endNewest(task, epoch, 'expired', reason ?? 'not renewed in time');
}

function endNewest(task: Task, epoch: number, how: HowClaimEnded, reason: string): Outcome<null> {
  const { claim } = task;
  if (claim === null || claim.epoch !== epoch) {
    return refusal(
      'claim-ended',
      `task ${task.id} has no live claim of epoch ${epoch}`,
      `See it: baton task show ${task.id}`,
    );
  }
  return decided(abandonClaim(task, claim, how, reason), null);
}

/** The end of a claim, and of the handoff it held: only completed work is handed on. */
export function endClaim(task: Task, claim: Claim, how: HowClaimEnded, reason: string | null): Event[] {
  const { epoch, sessionId, handoff } = claim;
  const ended = event(CLAIM_ENDS[how], { task_id: task.id, epoch, session_id: sessionId, reason });
  if (handoff === null || how === 'completed') return [ended];
  return [event('HandoffDropped', { ...handoff, reason: `the claim ended: ${how}` }), ended];
}

/** The same where the work just stops: a review that was begun waits for the next reviewer. */
export function abandonClaim(task: Task, claim: Claim, how: HowClaimEnded, reason: string | null): Event[] {
  const ended = endClaim(task, claim, how, reason);
  const isOpenReview = task.phase === 'REVIEW' && claim.from === 'READY_FOR_REVIEW';
  return isOpenReview ? [...ended, moveTo(task, 'READY_FOR_REVIEW', `the review ended: ${how}`)] : ended;
}

/** A change of phase. Where no next role is named the one there was stays. */
export function moveTo(task: Task, to: Task['phase'], reason: string, nextRole: string | null = task.nextRole): Event {
  return event('PhaseMoved', { task_id: task.id, from: task.phase, to, next_role: nextRole, reason });
}
