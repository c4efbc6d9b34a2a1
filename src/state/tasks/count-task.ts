import { event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { refuseUnknownTask } from './create-task.ts';

/** Records how many entries a task has, for its proof. Does nothing if none was added since the last count. */
export function decideCountTask(
  state: State,
  { taskId }: { readonly taskId: string },
): Outcome<{ readonly last: number }> {
  if (!state.tasks.has(taskId)) return refuseUnknownTask(taskId);
  const last = state.taskNumbers.get(taskId) ?? 0;
  if (last > 0 && state.counted.get(taskId) === last) return decided([], { last });
  return decided([event('TaskCounted', { task_id: taskId, last: last + 1 })], { last: last + 1 });
}
