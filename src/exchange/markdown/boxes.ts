import { firstWordFor } from '../same.ts';
import type { TaskStatus } from '../task.ts';

/** What stands in a box. The first of each status is the one that is written. */
export const BOXES: ReadonlyMap<string, TaskStatus> = new Map([
  [' ', 'todo'],
  ['x', 'done'],
  ['X', 'done'],
  ['/', 'in_progress'],
  ['~', 'in_progress'],
  ['!', 'blocked'],
  ['-', 'cancelled'],
]);

export function boxOf(status: TaskStatus): string {
  return firstWordFor(BOXES, status);
}
