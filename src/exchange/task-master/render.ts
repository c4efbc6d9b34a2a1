import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import type { ExportOptions } from '../format.ts';
import { isRawObject, parseRawJson, rawText, type RawObject } from '../json.ts';
import { isSameSet, firstWordFor } from '../same.ts';
import type { ExchangedTask, ExportedText } from '../task.ts';
import { placeTasks, type TaskLocations } from './places.ts';
import { parseTaskMaster } from './read.ts';
import { TASK_MASTER_PRIORITIES, priorityWord, TASK_MASTER_STATUSES } from './words.ts';

/**
 * A `tasks.json`. An id that task-master cannot hold, since its own are numbers, gets the next number, and stands in `metadata.baton_id`, from
 * where it is read again. In a file that is there already only what differs is changed.
 */
export function renderTaskMaster(tasks: readonly ExchangedTask[], options: ExportOptions): Parsed<ExportedText> {
  const { existing = '', tag } = options;
  const isNew = existing.trim() === '';
  const read = isNew
    ? undefined
    : parseTaskMaster(existing, { known: new Set(tasks.map(({ id }) => id)), ...tagged(tag) });
  // An empty list is one to add to.
  if (read?.ok === false && read.problems[0].code !== 'import/no-tasks') return read;
  const document = isNew ? { [tag ?? 'master']: { tasks: [], metadata: {} } } : parseRawJson(existing);
  const list = findList(document, tag);
  const before = new Map(read?.ok === true ? read.value.tasks.map((task) => [task.id, task]) : []);
  const places = placeTasks(tasks, list);
  for (const task of tasks) write(task, places, before.get(task.id));
  const told = [...places.values()].flatMap(({ id, ref, isNew: isAdded }) =>
    isAdded && id !== ref ? [{ message: `${id} becomes ${ref}, with its id in metadata.baton_id`, line: null }] : [],
  );
  return accepted({
    text: `${JSON.stringify(document, null, 2)}${existing.endsWith('\n') || isNew ? '\n' : ''}`,
    notices: told,
  });
}

function tagged(tag: string | undefined): { readonly tag?: string } {
  return tag === undefined ? {} : { tag };
}

/** The list that the reader has chosen, too. */
function findList(document: unknown, tag: string | undefined): RawObject {
  const root = isRawObject(document) ? document : {};
  if (Array.isArray(root['tasks']) && tag === undefined) return root;
  const named = root[tag ?? 'master'];
  if (isRawObject(named) && Array.isArray(named['tasks'])) return named;
  return (
    Object.values(root).find((value): value is RawObject => isRawObject(value) && Array.isArray(value['tasks'])) ?? root
  );
}

function write(task: ExchangedTask, places: TaskLocations, before: ExchangedTask | undefined): void {
  const place = places.get(task.id);
  if (place === undefined) return;
  const { raw } = place;
  raw['title'] = before?.title === task.title ? raw['title'] : task.title;
  // It takes no task without a description; where there is none, the title stands there, and the reader knows.
  if (place.isNew) raw['description'] = task.description === '' ? task.title : task.description;
  if (TASK_MASTER_STATUSES.get(rawText(raw, 'status') ?? 'pending') !== task.status || place.isNew)
    raw['status'] = firstWordFor(TASK_MASTER_STATUSES, task.status);
  const priority = TASK_MASTER_PRIORITIES.get(rawText(raw, 'priority') ?? 'medium');
  const wanted = priorityWord(task.priority);
  if (priority !== TASK_MASTER_PRIORITIES.get(wanted) || raw['priority'] === '') raw['priority'] = wanted;
  if (before === undefined || !isSameSet(before.after, task.after)) raw['dependencies'] = dependencies(task, places);
}

/** What being a part of something does not say already. */
function dependencies({ id, after }: ExchangedTask, places: TaskLocations): string[] {
  const said = places.get(id)?.said ?? new Set();
  return after.flatMap((before) => (said.has(before) ? [] : (places.get(before)?.ref ?? [])));
}
