import type { Event } from '../state/event.ts';
import type { Task } from '../state/tasks/task.ts';
import { holdTask } from './hold-task.ts';
import type { EngineContext } from './context.ts';

/** Whoever was to close a completed task gave up. It cannot be blocked any more, so a person is asked before the next one tries. */
export function onUnclosed(world: EngineContext, task: Task, reason: string | null): Event[] {
  if (task.phase !== 'COMPLETED' || task.nextRole === null || task.claim !== null) return [];
  const context = `${task.title}\n${task.id} is merged, and could not be closed: ${reason ?? 'no reason was given'}`;
  const options = [
    { label: 'Retry', action: 'retry' },
    { label: 'Leave the task unclosed', action: 'cancel' },
  ] as const;
  return holdTask(world, task, { source: 'error', stage: 'closing failed', context, options });
}
