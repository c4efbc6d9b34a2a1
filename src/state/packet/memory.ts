import type { RecordedEvent } from '../event.ts';
import type { Task } from '../tasks/task.ts';

/** Something that a session learned and that helps other tasks, too. */
export interface Lesson {
  readonly seq: number;
  readonly taskId: string;
  readonly text: string;
}

/** What the project learned, newest last: under `PROJECT` for all of it, and under the id of each epic. */
export type Memory = Map<string, readonly Lesson[]>;

export const PROJECT = '';

const KEPT_LESSONS = 40;
const KEPT_CHARACTERS = 400;

/** The tips and warnings of results are kept; a lesson that is learned again moves to the end. */
export function evolveMemory(
  memory: Memory,
  tasks: ReadonlyMap<string, Task>,
  { type, data, seq }: RecordedEvent,
): void {
  if (type !== 'ResultSubmitted') return;
  const task = tasks.get(data.task_id);
  const learned = data.result.log
    .filter(({ level }) => level === 'tip' || level === 'warn')
    .map(({ message }) => ({
      seq,
      taskId: data.task_id,
      text: message.replaceAll(/\s+/g, ' ').trim().slice(0, KEPT_CHARACTERS),
    }));
  if (learned.length === 0) return;
  for (const scope of [PROJECT, ...(task?.epicId ? [task.epicId] : [])]) {
    const texts = new Set(learned.map(({ text }) => text));
    const known = (memory.get(scope) ?? []).filter(({ text }) => !texts.has(text));
    memory.set(scope, [...known, ...learned].slice(-KEPT_LESSONS));
  }
}

/** Of the task's epic first, then of the project; newest first, each once. */
export function lessonsFor(
  memory: ReadonlyMap<string, readonly Lesson[]>,
  { epicId }: Pick<Task, 'epicId'>,
): readonly Lesson[] {
  const own = (epicId === null ? [] : (memory.get(epicId) ?? [])).toReversed();
  const texts = new Set(own.map(({ text }) => text));
  return [...own, ...(memory.get(PROJECT) ?? []).toReversed().filter(({ text }) => !texts.has(text))];
}
