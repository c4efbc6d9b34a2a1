import type { State } from '../state.ts';
import { findTakenOverBy } from '../workflow/flow.ts';
import { isCancelled, type Task } from './task.ts';

/** Whether a task is over, needs a person, or goes on by itself. */
export interface TaskOutlook {
  readonly state: 'going' | 'waiting' | 'done' | 'cancelled';
  /** What the person is asked, or why the task is blocked or cancelled. */
  readonly reason: string | null;
  readonly decisionIds: readonly string[];
}

export function taskOutlook(state: State, task: Task): TaskOutlook {
  const open = [...state.decisions.values()].filter(({ taskId, result }) => taskId === task.id && result === null);
  const parked = [...state.agents.values()].filter(
    (agent) => agent.task?.task_id === task.id && agent.outcome === null && agent.parked !== null,
  );
  // An agent may wait for a decision about a budget that others share.
  const decisionIds = [...new Set([...open.map(({ id }) => id), ...parked.flatMap(({ parked: id }) => id ?? [])])];
  const title = state.decisions.get(decisionIds[0] ?? '')?.title ?? null;
  if (isCancelled(task)) return { state: 'cancelled', reason: task.blocked?.reason ?? null, decisionIds };
  if (decisionIds.length > 0) return { state: 'waiting', reason: title, decisionIds };
  if (task.blocked !== null)
    return { state: isRetried(state, task.id) ? 'going' : 'waiting', reason: task.blocked.reason, decisionIds };
  const person = findTakenOverBy(task.flow);
  if (person !== undefined) return { state: 'waiting', reason: `${person} took it over`, decisionIds };
  return { state: isDone(task) ? 'done' : 'going', reason: null, decisionIds };
}

/** After the merge, a workflow still has its closer. */
function isDone({ phase, flow, nextRole }: Task): boolean {
  return phase === 'COMPLETED' && (flow.mode === null || nextRole === null);
}

function isRetried({ effects }: State, taskId: string): boolean {
  return [...effects.values()].some(
    ({ type, data }) => type === 'TimerSet' && data.purpose.kind === 'unblock' && data.purpose.task_id === taskId,
  );
}
