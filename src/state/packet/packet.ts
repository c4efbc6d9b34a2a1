import type { Decision } from '../runs/decision.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { Task } from '../tasks/task.ts';
import { describeHandoff, describeRecord } from './describe-message.ts';
import { type Lesson, lessonsFor } from './memory.ts';
import { KEPT_CHARACTERS, SECTION_NAMES, SECTIONS, type SectionName, type Statement } from './statement.ts';
import { authorOfTask } from './author-of.ts';

/**
 * Everything that the next session or person on a task needs, newest first in each section. A pure function of the
 * state.
 */
export interface Packet {
  readonly task: Task;
  /** The author of the title and the description. */
  readonly author: string;
  /** The title and the description, in their author's words. */
  readonly goal: string;
  /** The issue with its requirements, as its sender wrote it. */
  readonly issue: { readonly from: string; readonly text: string } | null;
  /** Open decisions about the task. */
  readonly open: readonly Decision[];
  /** Unfinished tasks that this one waits for. */
  readonly waitsFor: readonly Task[];
  readonly sections: readonly PacketSection[];
  readonly lessons: readonly Lesson[];
  /** Tasks of the project that can be claimed now. */
  readonly next: readonly Pick<Task, 'id' | 'title' | 'phase'>[];
  /** The newest record of each task that this one waited for, newest first, with its blockers and notes. */
  readonly before: readonly Statement[];
  /** The newest record of the project, which describes the last work, if it is not shown otherwise. */
  readonly newest: Statement | null;
}

interface PacketSection {
  readonly name: SectionName;
  readonly title: string;
  readonly items: readonly Statement[];
}

export interface PacketSource {
  readonly tasks: ReadonlyMap<string, Task>;
  readonly decisions: ReadonlyMap<string, Decision>;
  readonly statements: ReadonlyMap<string, readonly Statement[]>;
  readonly memory: ReadonlyMap<string, readonly Lesson[]>;
}

export function buildPacket(source: PacketSource, task: Task, next: Packet['next'] = []): Packet {
  const { tasks, decisions, statements, memory } = source;
  const before = recordsBefore(source, task);
  // The issue is the goal, so it is not repeated among the handoffs.
  const issue = task.flow.issue?.handoff_id;
  const said = (statements.get(task.id) ?? []).filter(({ ref }) => ref === undefined || ref !== issue).toReversed();
  const sections = SECTION_NAMES.map((name) => ({
    name,
    title: SECTIONS[name].title,
    items: said.filter(({ section }) => section === name),
  }));
  return {
    task,
    author: authorOfTask(task),
    goal: describeGoal(task),
    issue: task.flow.issue === null ? null : { from: task.flow.issue.from, text: describeHandoff(task.flow.issue) },
    open: [...decisions.values()].filter(({ taskId, result }) => taskId === task.id && result === null),
    waitsFor: task.after.flatMap((id) => tasks.get(id) ?? []).filter(({ phase }) => phase !== 'COMPLETED'),
    sections: sections.filter(({ items }) => items.length > 0),
    lessons: lessonsFor(memory, task).filter(({ taskId }) => taskId !== task.id),
    next,
    before,
    newest: task.latestRecord === null ? findNewestRecord(source, before) : null,
  };
}

function describeGoal({ title, description }: Task): string {
  return description === null ? title : `${title}\n\n${description}`;
}

function recordsBefore({ statements }: PacketSource, { after }: Task): readonly Statement[] {
  const records = after.flatMap((id) => {
    const record = statements.get(id)?.findLast(({ section }) => section === 'record');
    return record === undefined ? [] : [{ ...record, title: `${record.title} of task ${id}` }];
  });
  return records.toSorted((a, b) => b.seq - a.seq);
}

/** Finds the newest record of any task, without its blockers, which belong to another task. */
function findNewestRecord({ tasks, statements }: PacketSource, shown: readonly Statement[]): Statement | null {
  let newest: { readonly seq: number; readonly task: Task } | undefined;
  for (const task of tasks.values()) {
    const seq = task.records.at(-1)?.seq ?? 0;
    if (seq > (newest?.seq ?? 0)) newest = { seq, task };
  }
  const record = newest?.task.latestRecord ?? null;
  if (newest === undefined || record === null) return null;
  const { seq, task } = newest;
  const found = statements.get(task.id)?.findLast((each) => each.seq === seq && each.section === 'record');
  if (found === undefined || shown.some((each) => each.seq === found.seq)) return null;
  const text = describeRecord({ ...record, blockers: [] });
  return { ...found, title: `${found.title} of task ${task.id}`, text: excerptStart(text, KEPT_CHARACTERS) };
}
