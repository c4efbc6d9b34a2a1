import type { Phase } from '../../protocol/phase.ts';
import { agentPrincipal, type Caller, checkClaim, refuseStaleClaim } from '../caller.ts';
import {
  CLAIM_ENDS,
  event,
  type Event,
  type EventOf,
  type HowClaimEnded,
  type MoveCause,
  type Requirement,
} from '../event.ts';
import { findOutOfReach } from '../fleet/task-work.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import type { State } from '../state.ts';
import { findTakenOverBy } from '../workflow/flow.ts';
import { findTooLong, refuseUnknownTask } from './create-task.ts';
import { checkMayJudge } from './judging.ts';
import { type Claim, isCancelled, isWorkable, JUDGED_PHASES, type Task } from './task.ts';

export interface ClaimTask {
  readonly id: string;
  /** A new id: each session has one claim. */
  readonly sessionId: string;
  /** A label for people: see `principal`. */
  readonly holder: string;
  /** The principal responsible for the work. Default: the agent definition with the holder's name. */
  readonly principal?: string;
  readonly role?: string;
  readonly requires?: readonly Requirement[];
  readonly process?: string;
}

/** Grants the exclusive right to work on a task. Its epoch is larger than that of every earlier claim. */
export function decideClaimTask(
  state: State,
  command: ClaimTask,
  rules: Rules,
  here: string | undefined,
): Outcome<{ readonly epoch: number }> {
  const { sessionId, holder, role = null, requires = [], principal = agentPrincipal(holder) } = command;
  const task = state.tasks.get(command.id);
  if (task === undefined) return refuseUnknownTask(command.id);
  const long = findTooLong({ as: holder, role: command.role });
  if (long !== undefined) return long;
  if (state.sessions.has(sessionId))
    return refusal(
      'session-exists',
      `session ${sessionId} had a claim already`,
      'Begin a new session for a new claim.',
    );
  const isClosing = isClosable(task) && role === task.nextRole;
  const obstacle = isClosing ? undefined : findClaimObstacle(state, task, rules);
  if (obstacle !== undefined) return refusal(obstacle.code, obstacle.message, 'Find another task: baton task next');
  if (role !== null && task.nextRole !== null && role !== task.nextRole) {
    const message = `task ${task.id} waits for the role ${task.nextRole}, not ${role}`;
    return refusal('wrong-role', message, `Claim the task with --role ${task.nextRole}.`);
  }
  const far = findOutOfReach(state, task, here);
  if (far !== undefined) {
    const hint = `Claim the task on ${far.host}, or find another: baton task next`;
    return refusal('out-of-reach', `the work of ${task.id} is on ${far.host}: ${far.reason}`, hint);
  }
  const person = findTakenOverBy(task.flow);
  if (person !== undefined && person !== principal) {
    const hint = `Find another: baton task next. An operator can take the assignment back: baton task release ${task.id}`;
    return refusal('assigned', `task ${task.id} is assigned to ${person}`, hint);
  }
  const mayJudge = JUDGED_PHASES.has(task.phase) ? checkMayJudge(state, task, principal, rules) : decided([], null);
  if (!mayJudge.ok) return mayJudge;
  const epoch = task.epoch + 1;
  const process = command.process === undefined ? {} : { process: command.process };
  const claim = { task_id: task.id, epoch, session_id: sessionId, holder, principal, role, requires, ...process };
  const claimed = event('TaskClaimed', claim);
  const inReview =
    task.phase === 'READY_FOR_REVIEW'
      ? [phaseMovedEvent(task, 'REVIEW', { cause: 'review-began', reason: 'claimed for review' })]
      : [];
  return decided([claimed, ...inReview], { epoch });
}

/**
 * Reports whether the task is completed and can be claimed by the role that closes it; such a claim does not change its
 * status.
 */
export function isClosable(task: Task): boolean {
  return task.phase === 'COMPLETED' && task.nextRole !== null && isFree(task);
}

export function isClaimable(state: State, task: Task, rules: Rules): boolean {
  return isClaimableUnder(state, task, rulesFor(task, rules));
}

/** Uses the rules that apply to this task. */
export function isClaimableUnder(state: Pick<State, 'tasks'>, task: Task, { ciGate }: Pick<Rules, 'ciGate'>): boolean {
  return isFree(task) && isWorkable(task, ciGate) && task.after.every((id) => isDone(state, id));
}

function isFree({ claim, flow }: Task): boolean {
  return claim === null && flow.held === null && flow.verdict === undefined && flow.merge === null;
}

function findClaimObstacle(
  state: State,
  task: Task,
  rules: Rules,
): { readonly code: string; readonly message: string } | undefined {
  if (isClaimable(state, task, rules)) return undefined;
  if (task.claim !== null)
    return { code: 'already-claimed', message: `task ${task.id} is claimed by ${task.claim.holder}` };
  if (isCancelled(task))
    return { code: 'cancelled', message: `task ${task.id} is ${task.blocked?.reason ?? 'cancelled'}` };
  if (!isWorkable(task, rulesFor(task, rules).ciGate)) {
    const why = task.blocked === null ? '' : ` (${task.blocked.reason})`;
    return { code: 'not-workable', message: `task ${task.id} is ${task.phase}${why}` };
  }
  if (task.flow.held !== null)
    return { code: 'held', message: `task ${task.id} waits for a person: ${task.flow.held.stage}` };
  if (task.flow.merge !== null) return { code: 'merging', message: `task ${task.id} is being merged` };
  const open = task.after.filter((id) => !isDone(state, id));
  return { code: 'waits', message: `task ${task.id} waits for ${open.join(', ')}` };
}

function isDone(state: Pick<State, 'tasks'>, id: string): boolean {
  return state.tasks.get(id)?.phase === 'COMPLETED';
}

interface ReleaseClaim {
  readonly id: string;
  /** The claim that an operator names; default: the live one. A session has only its own. */
  readonly epoch?: number;
  readonly reason?: string;
}

interface ExpireClaim {
  readonly id: string;
  readonly epoch: number;
  readonly reason?: string;
}

/** Ends the claim. For an unclaimed task, an operator revokes its assignment to a person or an agent. */
export function decideReleaseClaim(state: State, command: ReleaseClaim, caller: Caller): Outcome<null> {
  const { id, epoch, reason } = command;
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (caller.kind !== 'session' && epoch === undefined && task.claim === null && task.flow.assigned !== null) {
    const why = reason === undefined ? {} : { reason };
    return decided([event('TaskAssigned', { task_id: id, agent: null, person: null, ...why })], null);
  }
  if (caller.kind !== 'session')
    return endNewestClaim(task, epoch ?? task.epoch, 'revoked', reason ?? 'revoked by an operator');
  const held = checkClaim(task, caller);
  return held.ok ? decided(abandonClaim(task, held.claim, 'released', reason ?? null), null) : held;
}

/** The lease has expired. The epoch protects a newer claim. */
export function decideExpireClaim(state: State, { id, epoch, reason }: ExpireClaim): Outcome<null> {
  const task = state.tasks.get(id);
  return task === undefined
    ? refuseUnknownTask(id)
    : endNewestClaim(task, epoch, 'expired', reason ?? 'not renewed in time');
}

function endNewestClaim(task: Task, epoch: number, how: HowClaimEnded, reason: string): Outcome<null> {
  if (epoch < task.epoch) return refuseStaleClaim(epoch, task.epoch, `See the task: baton task show ${task.id}`);
  const { claim } = task;
  if (claim?.epoch === epoch) return decided(abandonClaim(task, claim, how, reason), null);
  const message =
    epoch === 0 ? `task ${task.id} is not claimed` : `task ${task.id} has no live claim of epoch ${epoch}`;
  return refusal('claim-ended', message, `See the task: baton task show ${task.id}`);
}

/** Ends a claim, and drops the handoff that it still holds. */
export function endClaim(task: Task, claim: Claim, how: HowClaimEnded, reason: string | null): Event[] {
  const { epoch, sessionId, handoff } = claim;
  const ended = event(CLAIM_ENDS[how], { task_id: task.id, epoch, session_id: sessionId, reason });
  if (handoff === null) return [ended];
  return [event('HandoffDropped', { ...handoff, reason: `the claim ended: ${how}` }), ended];
}

/** Ends a claim whose work just stops: a review that was begun waits for the next reviewer. */
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

/** Why a task moves: `cause` for rules, `reason` for people. */
export interface MoveReason {
  readonly cause: Exclude<MoveCause, 'unrecorded'>;
  readonly reason: string;
}

/** The entry of a move. The next role stays unless one is given. */
export function phaseMovedEvent(
  task: Task,
  to: Phase,
  { cause, reason }: MoveReason,
  nextRole: string | null = task.nextRole,
): EventOf<'PhaseMoved'> {
  return event('PhaseMoved', { task_id: task.id, from: task.phase, to, next_role: nextRole, cause, reason });
}
