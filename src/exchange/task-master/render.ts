import { accepted, type Parsed } from '../../protocol/problem.ts';
import type { RenderOptions } from '../format.ts';
import { isRaw, parseRaw, rawText, type Raw } from '../json.ts';
import { isSameSet, wordFor } from '../same.ts';
import type { ExchangedTask, Rendering } from '../task.ts';
import { planPlaces, type Places } from './places.ts';
import { readTaskMaster } from './read.ts';
import { PRIORITIES, priorityWord, STATUSES } from './words.ts';

/**
 * A `tasks.json`. An id that task-master cannot hold, since its own are numbers, gets the next number, and stands in `metadata.baton_id`, from
 * where it is read again. In a file that is there already only what differs is changed.
 */
export function renderTaskMaster(tasks: readonly ExchangedTask[], options: RenderOptions): Parsed<Rendering> {
  const { existing = '', tag } = options;
  const isNew = existing.trim() === '';
  const read = isNew
    ? undefined
    : readTaskMaster(existing, { known: new Set(tasks.map(({ id }) => id)), ...tagged(tag) });
  // An empty list is one to add to.
  if (read?.ok === false && read.problems[0].code !== 'import/no-tasks') return read;
  const document = isNew ? { [tag ?? 'master']: { tasks: [], metadata: {} } } : parseRaw(existing);
  const list = findList(document, tag);
  const before = new Map(read?.ok === true ? read.value.tasks.map((task) => [task.id, task]) : []);
  const places = planPlaces(tasks, list);
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
function findList(document: unknown, tag: string | undefined): Raw {
  const root = isRaw(document) ? document : {};
  if (Array.isArray(root['tasks']) && tag === undefined) return root;
  const named = root[tag ?? 'master'];
  if (isRaw(named) && Array.isArray(named['tasks'])) return named;
  return Object.values(root).find((value): value is Raw => isRaw(value) && Array.isArray(value['tasks'])) ?? root;
}

function write(task: ExchangedTask, places: Places, before: ExchangedTask | undefined): void {
  const place = places.get(task.id);
  if (place === undefined) return;
  const { raw } = place;
  raw['title'] = before?.title === task.title ? raw['title'] : task.title;
  // It takes no task without a description; where there is none, the title stands there, and the reader knows.
  if (place.isNew) raw['description'] = task.description === '' ? task.title : task.description;
  if (STATUSES.get(rawText(raw, 'status') ?? 'pending') !== task.status || place.isNew)
    raw['status'] = wordFor(STATUSES, task.status);
  const priority = PRIORITIES.get(rawText(raw, 'priority') ?? 'medium');
  const wanted = priorityWord(task.priority);
  if (priority !== PRIORITIES.get(wanted) || raw['priority'] === '') raw['priority'] = wanted;
  if (before === undefined || !isSameSet(before.after, task.after)) raw['dependencies'] = dependencies(task, places);
}

/** What being a part of something does not say already. */
function dependencies({ id, after }: ExchangedTask, places: Places): string[] {
  const said = places.get(id)?.said ?? new Set();
  return after.flatMap((before) => (said.has(before) ? [] : (places.get(before)?.ref ?? [])));
}
