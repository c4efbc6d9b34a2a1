import { refuseUnknownTask } from './create-task.ts';
import { phaseMovedEvent } from './end-claim.ts';
import type { Requirement } from '../event.ts';
import { event } from '../event.ts';
import { JUDGED_PHASES } from './judged-phase.ts';
import { checkMayJudge } from './judging.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import { agentPrincipal } from '../principal.ts';
import { rulesFor, type Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { isCancelled, isWorkable, type Task } from './task.ts';

export interface ClaimTask {
  readonly id: string;
  /** A new name: a session works under one claim, and is over with it. */
  readonly sessionId: string;
  /** A name that people recognise. It is a label: see `principal`. */
  readonly holder: string;
  /** Who answers for the work; left out: the agent definition of the holder's name. */
  readonly principal?: string;
  readonly role?: string;
  readonly requires?: readonly Requirement[];
  readonly process?: string;
}

/** The exclusive right to work on a task. Its epoch is larger than that of every claim before it. */
export function decideClaimTask(state: State, command: ClaimTask, rules: Rules): Outcome<{ readonly epoch: number }> {
  const { sessionId, holder, role = null, requires = [], principal = agentPrincipal(holder) } = command;
  const task = state.tasks.get(command.id);
  if (task === undefined) return refuseUnknownTask(command.id);
  if (state.sessions.has(sessionId))
    return refusal('session-exists', `session ${sessionId} has had its claim`, 'Begin a new session for a new claim.');
  const isClosing = isClosable(task) && role === task.nextRole;
  const obstacle = isClosing ? undefined : findClaimObstacle(state, task, rules);
  if (obstacle !== undefined) return refusal(obstacle.code, obstacle.message, 'Find another: baton task next');
  if (role !== null && task.nextRole !== null && role !== task.nextRole) {
    const message = `task ${task.id} waits for the role ${task.nextRole}, not ${role}`;
    return refusal('wrong-role', message, `Claim it with --role ${task.nextRole}.`);
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

/** A completed task is nobody's work any more, but for the role that closes it, whose claim changes no status. */
export function isClosable(task: Task): boolean {
  return task.phase === 'COMPLETED' && task.nextRole !== null && isFree(task);
}

export function isClaimable(state: State, task: Task, rules: Rules): boolean {
  return (
    isFree(task) && isWorkable(task.phase, rulesFor(task, rules).ciGate) && task.after.every((id) => isDone(state, id))
  );
}

function isFree({ claim, flow }: Task): boolean {
  return claim === null && flow.held === null && flow.merge === null;
}

/** Why nobody can claim this task now; undefined where somebody can. */
export function findClaimObstacle(
  state: State,
  task: Task,
  rules: Rules,
): { readonly code: string; readonly message: string } | undefined {
  if (isClaimable(state, task, rules)) return undefined;
  if (task.claim !== null)
    return { code: 'already-claimed', message: `task ${task.id} is claimed by ${task.claim.holder}` };
  if (isCancelled(task))
    return { code: 'cancelled', message: `task ${task.id} is ${task.blocked?.reason ?? 'cancelled'}` };
  if (!isWorkable(task.phase, rulesFor(task, rules).ciGate)) {
    const why = task.blocked === null ? '' : ` (${task.blocked.reason})`;
    return { code: 'not-workable', message: `task ${task.id} is ${task.phase}${why}` };
  }
  if (task.flow.held !== null)
    return { code: 'held', message: `task ${task.id} waits for a person: ${task.flow.held.stage}` };
  if (task.flow.merge !== null) return { code: 'merging', message: `task ${task.id} is being merged` };
  const open = task.after.filter((id) => !isDone(state, id));
  return { code: 'waits', message: `task ${task.id} waits for ${open.join(', ')}` };
}

function isDone(state: State, id: string): boolean {
  return state.tasks.get(id)?.phase === 'COMPLETED';
}
