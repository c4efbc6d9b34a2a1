import type { Event, EventOf } from '../state/event.ts';
import type { Task } from '../state/tasks/task.ts';
import { refuseMerge } from '../state/workflow/merge.ts';

/** Somebody has taken the task elsewhere while it was being merged, or its turn to be came: what they no longer want must not land. */
export function cancelMerge(task: Task, { to, reason }: EventOf<'PhaseMoved'>['data']): Event[] {
  const { merge } = task.flow;
  return merge === null || to === 'READY_FOR_MERGE' ? [] : refuseMerge(task, merge, `called off: ${reason}`);
}
