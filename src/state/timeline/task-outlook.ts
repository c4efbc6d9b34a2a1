import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { findTakenOverBy } from '../workflow/flow.ts';
import { findSpan } from './find-span.ts';

/** Whether a task is over, needs a person, or continues by itself. */
export interface TaskOutlook {
  readonly state: 'going' | 'waiting' | 'done' | 'cancelled';
  /** The question to the person, or why the task waits for one or was cancelled. */
  readonly reason: string | null;
  readonly decisionIds: readonly string[];
}

export function taskOutlook(state: State, task: Task): TaskOutlook {
  const timeline = state.timelines.get(task.id) ?? { spans: [] };
  const { activity } = findSpan(state.tasks, task, timeline);
  // An agent may wait for a decision about a shared budget.
  const parked = (timeline.parked ?? []).flatMap((id) => state.agents.get(id)?.parked ?? []);
  const decisionIds = [...new Set([...(timeline.asked ?? []), ...parked])];
  const blocked = task.blocked?.reason ?? null;
  if (activity === 'cancelled') return { state: 'cancelled', reason: blocked, decisionIds };
  const [first] = decisionIds;
  const asked = decisionIds.find((id) => state.decisions.get(id)?.answer === undefined);
  if (asked !== undefined) return { state: 'waiting', reason: state.decisions.get(asked)?.title ?? null, decisionIds };
  if (first !== undefined) return { state: 'going', reason: 'an answer takes effect soon', decisionIds };
  if (activity === 'done') return { state: 'done', reason: null, decisionIds };
  const needsPerson = activity === 'waiting' || (activity === 'blocked' && !isRetried(state, task.id));
  return { state: needsPerson ? 'waiting' : 'going', reason: blocked ?? describeAssignment(task), decisionIds };
}

function describeAssignment({ flow }: Task): string | null {
  const person = findTakenOverBy(flow);
  return person === undefined ? null : `${person} took the task over`;
}

function isRetried({ effects }: State, taskId: string): boolean {
  return [...effects.values()].some(
    ({ type, data }) => type === 'TimerSet' && data.purpose.kind === 'unblock' && data.purpose.task_id === taskId,
  );
}
