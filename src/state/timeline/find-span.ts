import type { Activity } from '../../protocol/phase.ts';
import { isCancelled, type Task } from '../tasks/task.ts';
import { findTakenOverBy } from '../workflow/flow.ts';
import type { Span, Timeline } from './timeline.ts';

/** What a task does now, and in which stage; without the time. */
export type CurrentSpan = Omit<Span, 'from' | 'outcome'>;

/** Finds the current span. `before` is the task's timeline so far; `tasks` has its dependencies. */
export function findSpan(tasks: ReadonlyMap<string, Pick<Task, 'phase'>>, task: Task, before: Timeline): CurrentSpan {
  const { flow, phase, claim, nextRole } = task;
  const { rounds: round } = flow;
  if (isCancelled(task)) return { activity: 'cancelled', phase, round };
  if (phase === 'BLOCKED')
    return atBlockedStage(task, before, before.asked !== undefined || flow.held !== null ? 'waiting' : 'blocked');
  // A task outside workflows keeps the role that was next when it was completed.
  if (phase === 'COMPLETED' && claim === null && (nextRole === null || flow.mode === null))
    return { activity: 'done', phase, round };
  if (claim !== null) {
    const { role, epoch, holder, from } = claim;
    const began = from === 'READY_FOR_REVIEW' ? 'REVIEW' : from;
    const activity = before.parked === undefined ? 'running' : 'waiting';
    if (role === null) return { activity, phase: began, round, epoch, holder };
    return { activity, phase: began, round, role, epoch, holder };
  }
  if (flow.merge !== null || flow.heldMerge !== null)
    return { activity: flow.held === null ? 'merging' : 'waiting', phase, round, gate: 'merge' };
  if (phase === 'CI_PENDING' && (flow.checks?.outcome === null || flow.pull?.isWanted === true))
    return { activity: flow.held === null ? 'checks' : 'waiting', phase, round, gate: 'ci' };
  const isReady = task.after.every((id) => tasks.get(id)?.phase === 'COMPLETED');
  const isAsked = flow.held !== null || findTakenOverBy(flow) !== undefined;
  const activity = isAsked ? 'waiting' : isReady ? 'queued' : 'pending';
  return nextRole === null ? { activity, phase, round } : { activity, phase, round, role: nextRole };
}

/** The span of a blocked task, at the interrupted stage. */
function atBlockedStage(
  { blocked, flow, nextRole, phase }: Task,
  { spans }: Timeline,
  activity: Activity,
): CurrentSpan {
  const last = spans.at(-1);
  if (last === undefined) {
    const place = { activity, phase: blocked?.from ?? phase, round: flow.rounds };
    return nextRole === null ? place : { ...place, role: nextRole };
  }
  const { outcome: _, from: _from, epoch: _epoch, holder: _holder, ...place } = last;
  return { ...place, activity };
}
