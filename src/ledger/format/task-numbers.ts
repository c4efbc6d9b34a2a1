import { isObject } from '../../protocol/shape/read-unknown.ts';
import { taskId as taskIdShape } from '../../protocol/shape/shared-fields.ts';
import type { JsonObject } from './canonical-json.ts';
import { LEDGER_LIMITS } from './limits.ts';

const TASK_ID = new RegExp(taskIdShape.pattern, 'u');

/** The number of an entry within each task that it is about, by task id. Each task counts from 1. */
export type TaskNumbers = Readonly<Record<string, number>>;

export function isTaskNumbers(value: unknown, seq: number): value is TaskNumbers {
  if (!isObject(value)) return false;
  let tasks = 0;
  for (const id in value) {
    const number = value[id];
    if (!isTaskId(id) || typeof number !== 'number' || !Number.isSafeInteger(number)) return false;
    if (number < 1 || number > seq || (tasks += 1) > LEDGER_LIMITS.tasksPerEntry) return false;
  }
  return true;
}

export function isTaskId(id: unknown): id is string {
  return typeof id === 'string' && TASK_ID.test(id);
}

/** The number of an entry within a task; undefined if the entry is not about it. */
export function numberWithin(tasks: TaskNumbers | undefined, taskId: string): number | undefined {
  return tasks !== undefined && Object.hasOwn(tasks, taskId) ? tasks[taskId] : undefined;
}

/** Whether an entry that names a task in `task_id` has a number within it. An entry without one would not be missed. */
export function hasOwnNumber(tasks: TaskNumbers, { task_id: id }: JsonObject): boolean {
  return !isTaskId(id) || Object.hasOwn(tasks, id);
}

/** Renders canonical JSON. An id has no character that needs an escape. */
export function renderTaskNumbers(tasks: TaskNumbers): string {
  const ids = Object.keys(tasks);
  if (ids.length > 1) ids.sort();
  let text = '{';
  for (const id of ids) text += `${text === '{' ? '' : ','}"${id}":${tasks[id]}`;
  return `${text}}`;
}

/** The newest number of each task. */
export type LastNumbers = Map<string, number>;

/**
 * Takes the numbers of the next entry into `last`. Returns the task whose number does not follow, and the one that does.
 * `isWhole`: `last` has every task with a number, so that another one starts with 1.
 */
export function takeNumbers(
  last: LastNumbers,
  tasks: TaskNumbers,
  isWhole: boolean,
): { readonly taskId: string; readonly expected: number } | undefined {
  for (const taskId in tasks) {
    const number = tasks[taskId] ?? 0;
    const before = last.get(taskId) ?? (isWhole ? 0 : number - 1);
    if (number !== before + 1) return { taskId, expected: before + 1 };
    last.set(taskId, number);
  }
  return undefined;
}
