import { findReportedError, HANDOFF_EDGES } from '../protocol/handoff/index.ts';
import type { Constraint } from '../protocol/agent-session-completed.ts';
import type { Event, EventOf, RecordedEvent } from '../state/event.ts';
import { describeHandoff } from '../state/packet/describe-message.ts';
import { rulesFor } from '../state/rules.ts';
import { OPTION_LABELS } from '../state/runs/decision.ts';
import { findTimers } from '../state/runs/effect.ts';
import { asksAboutWork } from '../state/runs/open-decisions.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { returnFromBlocked } from '../state/tasks/operate-task.ts';
import { isCancelled, type Task } from '../state/tasks/task.ts';
import { blockingConstraints } from '../state/tasks/task-rules.ts';
import type { HandoffRef } from '../state/workflow/workflow-event.ts';
import { cancelPending, type EngineContext, setTimer } from './context.ts';
import { holdTask } from './decisions/hold-task.ts';
import { askPeople } from './decisions/notify.ts';
import { steeringOptions } from './decisions/steer-task.ts';
import { quoteTitle } from '../state/packet/author-of.ts';

/** Asks a person, unless a person blocked the task, a decision about it is open, or a retry is scheduled. */
export function onBlocked(world: EngineContext, task: Task, recorded: RecordedEvent & EventOf<'PhaseMoved'>): Event[] {
  const { actor, data } = recorded;
  const isMerge = data.cause === 'merge-refused';
  const error = data.cause === 'handoff' ? task.flow.error : null;
  if (task.flow.mode === null && !isMerge && error === null) return [];
  if (actor.startsWith('operator:') || data.cause === 'decision' || isCancelled(task)) return [];
  if (isAskedAbout(world, task.id) || isTriedAgain(world, task)) return [];
  const broken = isMerge ? [] : blockingConstraints(world.state, task);
  const mayMove = broken.length > 0 && task.flow.runbook !== null;
  return askPeople(world, {
    source: isMerge ? 'merge' : 'error',
    title: `Task needs attention: ${task.id} is blocked`,
    context: `${quoteTitle(task)}\n${error === null ? data.reason : describeError(task, error)}${describeWaivers(task, broken)}`,
    options: [
      { label: `Retry from ${task.blocked?.from ?? data.from}`, action: 'retry' },
      { label: 'Leave the task blocked', action: 'dismiss' },
      ...(mayMove ? [{ label: 'Retry with the rules in force', action: 'approve' } as const] : []),
      ...steeringOptions(task),
    ],
    task_id: task.id,
  });
}

/** The ways out of a violated constraint, and the constraints that are waived already. */
function describeWaivers({ id, flow: { waived = [] } }: Task, broken: readonly Constraint[]): string {
  const ways = broken.map((name) => `To allow it for this task: baton task waive ${id} ${name} --reason TEXT`);
  const lines = [...(waived.length === 0 ? [] : [`Waived for this task: ${waived.join(', ')}`]), ...ways];
  return lines.map((line) => `\n${line}`).join('');
}

/** Renders everything that the agent reports, because a person decides what a retry cannot solve. */
export function describeError({ flow }: Task, error: HandoffRef): string {
  const isUsedUp = findReportedError(error)?.recoverable === true;
  const why = isUsedUp ? `reported a recoverable error ${flow.retries} times in a row` : 'reported an error';
  return `${error.from} ${why}.\n${excerptStart(describeHandoff(error), 2000)}`;
}

function isAskedAbout({ state }: EngineContext, taskId: string): boolean {
  return [...state.decisions.values()].some((decision) => decision.taskId === taskId && asksAboutWork(decision));
}

/** A retry that was scheduled for an earlier session does nothing when its timer fires. */
function isTriedAgain({ state }: EngineContext, { id, epoch }: Task): boolean {
  return findTimers(state, (each) => each.kind === 'unblock' && each.task_id === id && each.since === epoch).length > 0;
}

const RETRY_DELAYS_MS = HANDOFF_EDGES.flatMap((edge) => ('retry_after_ms' in edge ? edge.retry_after_ms : []));

/**
 * On an error handoff, which blocks its task. If the error is recoverable, the same role retries a limited number of
 * times. A completed task cannot be blocked, so if closing it fails, a person is asked.
 */
export function retryError(world: EngineContext, handoff: EventOf<'HandoffDelivered'>['data']): Event[] {
  const task = world.state.tasks.get(handoff.task_id);
  if (task === undefined || task.phase === 'COMPLETED' || findReportedError(handoff)?.recoverable !== true) return [];
  const waitMs = RETRY_DELAYS_MS[task.flow.retries - 1];
  if (waitMs === undefined) return [];
  return [setTimer(world, waitMs, { kind: 'unblock', task_id: task.id, since: task.epoch })];
}

/** On the `retry` timer: the task returns to work unless it has been moved in the meantime. */
export function retryAfterDelay({ rules }: EngineContext, task: Task | undefined, since: number): Event[] {
  if (task === undefined || task.blocked === null || task.epoch !== since) return [];
  return returnFromBlocked(task, { cause: 'retried', reason: 'tried again after a recoverable error' }, rules);
}

/** How often the same finding may come back unchanged. */
const SAME_FINDING = 2;

/** If a task returns to the fixer more often than this, from any role, a person is asked whether to continue. */
export function reviewRounds(world: EngineContext, task: Task, { from }: EventOf<'HandoffDelivered'>['data']): Event[] {
  // A person who sends work back has already decided.
  if (from === 'operator') return [];
  const { rounds, findings } = task.flow;
  const most = rulesFor(task, world.rules).reviewRounds ?? ROUNDS;
  const stubborn = Object.entries(findings).filter(([, times]) => times > SAME_FINDING);
  if (rounds <= most && stubborn.length === 0) return [];
  const context =
    stubborn.length > 0
      ? `The same finding came back unchanged: ${stubborn.map(([finding]) => finding).join('; ')}`
      : `The work went back to the fixer ${rounds} times; ${most} are allowed.`;
  const options = [
    { label: 'Allow one more round', action: 'retry' },
    { label: 'Cancel the task', action: 'cancel' },
    ...steeringOptions(task).filter(({ action }) => action !== 'cancel'),
  ] as const;
  return holdTask(world, task, { source: 'review', stage: 'too many rounds', context, options });
}

/** On a task that entered a phase: cancels the previous phase's stall timer, and sets one if this phase has a limit. */
export function restartStallTimer(world: EngineContext, task: Task, seq: number): Event[] {
  if (rulesFor(task, world.rules).stallMs === undefined) return [];
  const over = findTimers(world.state, (purpose) => purpose.kind === 'stall' && purpose.task_id === task.id);
  return [...cancelPending(over), ...setStallTimer(world, task, seq)];
}

/** A new task has no timer yet. Searching for one would make a large import slow. */
export function setStallTimer(world: EngineContext, task: Task, seq: number): Event[] {
  const limit = rulesFor(task, world.rules).stallMs?.[task.phase];
  if (limit === undefined || task.phase === 'COMPLETED' || isCancelled(task)) return [];
  const purpose = { kind: 'stall', task_id: task.id, phase: task.phase, since: seq } as const;
  return [setTimer(world, limit, purpose)];
}

/** On the stall timer: opens a decision that people can dismiss, unless the task already waits for a person. */
export function onStall(world: EngineContext, task: Task | undefined, phase: Task['phase'], since: number): Event[] {
  if (task === undefined || task.phase !== phase || task.flow.movedAt !== since || task.flow.held !== null) return [];
  const who = task.claim === null ? 'nobody holds it' : `${task.claim.holder} holds it`;
  return askPeople(world, {
    source: 'review',
    title: `Task needs attention: ${task.id} has stalled`,
    context: `${quoteTitle(task)}\nIt has been ${phase} for longer than its stall limit; ${who}.`,
    options: [{ label: OPTION_LABELS.dismiss, action: 'dismiss' }],
    task_id: task.id,
  });
}

const ROUNDS = 3;
