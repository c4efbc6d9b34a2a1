import type { TaskStatus } from '../task.ts';

/** What task-master says, and what that is in Baton. The first word of each status is the one that is written back. */
export const TASK_MASTER_STATUSES: ReadonlyMap<string, TaskStatus> = new Map([
  ['pending', 'todo'],
  ['in-progress', 'in_progress'],
  ['review', 'in_progress'],
  ['done', 'done'],
  ['completed', 'done'],
  ['blocked', 'blocked'],
  ['deferred', 'blocked'],
  ['cancelled', 'cancelled'],
]);

export const TASK_MASTER_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['critical', 20],
  ['high', 10],
  ['medium', 0],
  ['low', -10],
]);

export function priorityWord(priority: number): string {
  if (priority > 0) return priority >= 20 ? 'critical' : 'high';
  return priority < 0 ? 'low' : 'medium';
}
