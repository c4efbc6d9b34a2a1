import type { RecordedEvent } from '../event.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { Task } from '../tasks/task.ts';

/** A session's tip or warning that also helps other tasks. */
export interface Lesson {
  readonly seq: number;
  readonly taskId: string;
  readonly text: string;
}

/** The project's lessons, newest last: under `PROJECT` for the whole project, and under the id of each epic. */
export type Memory = Map<string, readonly Lesson[]>;

const PROJECT = '';

const KEPT_LESSONS = 40;
/** The limit per task, so that a session with many tips does not displace other sessions' lessons. */
const KEPT_OF_A_TASK = 8;
const KEPT_CHARACTERS = 400;

/**
 * Keeps tips and warnings of results, and decisions in evidence. A repeated lesson moves to the end, and stays
 * attributed to the first task.
 */
export function evolveMemory(memory: Memory, tasks: ReadonlyMap<string, Task>, recorded: RecordedEvent): void {
  const found = lessonsIn(recorded);
  if (found === undefined || found.texts.length === 0) return;
  const { taskId } = found;
  const task = tasks.get(taskId);
  const { seq } = recorded;
  const learned = found.texts.map((text) => ({ seq, taskId, text: cutLine(text) }));
  const texts = new Set(learned.map(({ text }) => text));
  for (const scope of [PROJECT, ...(task?.epicId ? [task.epicId] : [])]) {
    const known = memory.get(scope) ?? [];
    const others = known.filter((lesson) => lesson.taskId !== taskId);
    const again = new Set(others.map(({ text }) => text).filter((text) => texts.has(text)));
    const own = [
      ...known.filter((lesson) => lesson.taskId === taskId && !texts.has(lesson.text)),
      ...learned.filter(({ text }) => !again.has(text)),
    ];
    const [older, newer] = [
      others.filter(({ text }) => !again.has(text)),
      others.filter(({ text }) => again.has(text)),
    ];
    memory.set(scope, [...older, ...newer, ...own.slice(-KEPT_OF_A_TASK)].slice(-KEPT_LESSONS));
  }
}

function lessonsIn({
  type,
  data,
}: RecordedEvent): { readonly taskId: string; readonly texts: readonly string[] } | undefined {
  if (type === 'EvidenceRecorded') return { taskId: data.task_id, texts: data.decisions };
  if (type !== 'ResultSubmitted') return undefined;
  const lessons = data.result.log.filter(({ level }) => level === 'tip' || level === 'warn');
  return { taskId: data.task_id, texts: lessons.map(({ message }) => message) };
}

function cutLine(text: string): string {
  return excerptStart(text.replaceAll(/\s+/g, ' ').trim(), KEPT_CHARACTERS);
}

/** Lessons of the task's epic first, then of the project; newest first, without duplicates. */
export function lessonsFor(
  memory: ReadonlyMap<string, readonly Lesson[]>,
  { epicId }: Pick<Task, 'epicId'>,
): readonly Lesson[] {
  const own = (epicId === null ? [] : (memory.get(epicId) ?? [])).toReversed();
  const texts = new Set(own.map(({ text }) => text));
  return [...own, ...(memory.get(PROJECT) ?? []).toReversed().filter(({ text }) => !texts.has(text))];
}
