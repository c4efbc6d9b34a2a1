import type { Entry } from '../format/entry.ts';
import { numberWithin } from '../format/task-numbers.ts';

/** States how many numbered entries a task has, itself included. A proof ends with it. */
export const TASK_COUNTED = 'TaskCounted';

/** The types with which the history of a task begins. A task that a session proposed is created when it is accepted. */
const BEGINNINGS: ReadonlySet<string> = new Set(['TaskCreated', 'TaskProposed']);

/** The part of a task's history in which no entry is missing, by the numbers of its entries in the ledger. */
export interface Completeness {
  /** Earlier entries are of version 1, and some may be missing; 1 if the proof has the task's creation. */
  readonly from: number;
  /** The `TaskCounted`. Later entries are not part of the proof. */
  readonly to: number;
}

/**
 * Checks the numbers of a task's entries: 1, 2, 3 and so on, after those of version 1, up to a `TaskCounted` that states
 * the last. Returns what is wrong, or in which part no entry is missing.
 */
export function findCompleteness(
  v: 1 | 2,
  taskId: string,
  entries: readonly Entry[],
): Completeness | string | undefined {
  let last = 0;
  for (const { seq, tasks } of entries) {
    const number = numberWithin(tasks, taskId);
    if (number === undefined && last === 0) continue;
    if (number === undefined) return `entry ${seq} has no number within ${taskId}, but earlier entries have one`;
    if (number !== last + 1) return `entry ${seq} is number ${number} of ${taskId}, and number ${last + 1} is missing`;
    last = number;
  }
  if (v === 1) return last === 0 ? undefined : 'a proof of version 1 has entries of version 2';
  const end = entries.at(-1);
  if (end?.type !== TASK_COUNTED || end.data.task_id !== taskId || end.data.last !== last)
    return `it does not end with the count of the entries of ${taskId}`;
  const first = entries.find(({ tasks }) => tasks !== undefined);
  const isWhole = first !== undefined && BEGINNINGS.has(first.type) && first.data.task_id === taskId;
  return { from: isWhole ? 1 : (first?.seq ?? 1), to: end.seq };
}
