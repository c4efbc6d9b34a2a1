import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { isTaskId, toTaskId } from '../foreign-id.ts';
import { isRawObject, parseRawJson, rawList, type RawObject, rawText } from '../json.ts';
import {
  type ExchangedTask,
  type ExportedText,
  type ExportOptions,
  firstWordFor,
  isSameSet,
  readExisting,
} from '../task.ts';
import { parseTaskMaster, priorityWord, TASK_MASTER_PRIORITIES, TASK_MASTER_STATUSES } from './read.ts';

/** Writes a `tasks.json`. An id that is not a number gets the next free number, and is kept in `metadata.baton_id`. */
export function renderTaskMaster(
  tasks: readonly ExchangedTask[],
  { existing = '', tag }: ExportOptions,
): Parsed<ExportedText> {
  const isNew = existing.trim() === '';
  const known = new Set(tasks.map(({ id }) => id));
  const options = { known, ...(tag === undefined ? {} : { tag }) };
  const read = readExisting(isNew ? undefined : parseTaskMaster(existing, options));
  if (!read.ok) return read;
  const before = read.value;
  const document = isNew ? { [tag ?? 'master']: { tasks: [], metadata: {} } } : parseRawJson(existing);
  const list = findList(document, tag);
  const places = placeTasks(tasks, list);
  for (const task of tasks) write(task, places, before.get(task.id));
  const notices = [...places.values()].flatMap(({ id, ref, isNew: isAdded }) =>
    isAdded && id !== ref ? [{ message: `${id} becomes ${ref}, with its id in metadata.baton_id`, line: null }] : [],
  );
  const end = existing.endsWith('\n') || isNew ? '\n' : '';
  return accepted({ text: `${JSON.stringify(document, null, 2)}${end}`, notices });
}

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
  // Task-master requires a description. The title replaces a missing one, which the reader recognises.
  if (place.isNew) raw['description'] = task.description === '' ? task.title : task.description;
  if (TASK_MASTER_STATUSES.get(rawText(raw, 'status') ?? 'pending') !== task.status || place.isNew)
    raw['status'] = firstWordFor(TASK_MASTER_STATUSES, task.status);
  const priority = TASK_MASTER_PRIORITIES.get(rawText(raw, 'priority') ?? 'medium');
  const wanted = priorityWord(task.priority);
  if (priority !== TASK_MASTER_PRIORITIES.get(wanted) || raw['priority'] === '') raw['priority'] = wanted;
  if (before === undefined || !isSameSet(before.after, task.after)) raw['dependencies'] = dependencies(task, places);
}

function dependencies({ id, after }: ExchangedTask, places: TaskLocations): string[] {
  const implied = places.get(id)?.implied ?? new Set();
  return after.flatMap((before) => (implied.has(before) ? [] : (places.get(before)?.ref ?? [])));
}

interface TaskLocation {
  readonly id: string;
  readonly raw: RawObject;
  /** The task's reference in task-master: `3`, or `3.1`. */
  readonly ref: string;
  readonly isNew: boolean;
  /** Dependencies implied by being a part or having parts. */
  readonly implied: ReadonlySet<string>;
}

type TaskLocations = ReadonlyMap<string, TaskLocation>;

/** A location for every task, existing ones first. New tasks are appended to the list. */
function placeTasks(tasks: readonly ExchangedTask[], list: RawObject): TaskLocations {
  const top = Array.isArray(list['tasks']) ? (list['tasks'] as unknown[]) : []; // oxlint-disable-line typescript/no-unsafe-type-assertion
  list['tasks'] = top;
  const places = existingPlaces(list, tasks);
  const fresh = tasks.filter(({ id }) => !places.has(id));
  const parts = findSubtasks(tasks, new Set(fresh.map(({ id }) => id)));
  const numbers = [...rawList(top).map(({ id }) => Number(id)), ...fresh.map(({ id }) => wholeNumber(id) ?? 0)];
  let last = numbers.reduce((most, number) => (Number.isSafeInteger(number) && number > most ? number : most), 0);
  const used = new Set(rawList(top).map(({ id }) => String(id)));
  const isTop = ({ id }: ExchangedTask): boolean => !parts.partsOf.has(id);
  for (const { id } of fresh.filter(isTop)) {
    const own = wholeNumber(id);
    const number = own !== undefined && !used.has(String(own)) ? own : (last += 1);
    used.add(String(number));
    const raw = newTask(number, id);
    top.push(raw);
    places.set(id, { id, raw, ref: String(number), isNew: true, implied: parts.implied.get(id) ?? new Set() });
  }
  for (const { id } of fresh.filter((task) => !isTop(task))) {
    const [whole = '', number = ''] = id.split('.');
    const parent = places.get(whole);
    if (parent === undefined) continue;
    const ref = `${parent.ref}.${number}`;
    const part = { id: Number(number), title: '', description: '', details: '', status: '', dependencies: [] };
    const raw = named(part, ref, id);
    parent.raw['subtasks'] = [...rawList(parent.raw['subtasks']), raw];
    places.set(id, { id, raw, ref, isNew: true, implied: parts.implied.get(id) ?? new Set() });
  }
  return places;
}

function newTask(number: number, id: string): RawObject {
  const raw: RawObject = { id: number, title: '', description: '', details: '', testStrategy: '', status: '' };
  Object.assign(raw, { dependencies: [], priority: '', subtasks: [] });
  return named(raw, String(number), id);
}

function named(raw: RawObject, ref: string, id: string): RawObject {
  return ref === id ? raw : { ...raw, metadata: { baton_id: id } };
}

/** A task depends on its existing parts, and the parts inherit its dependencies. */
function existingPlaces(list: RawObject, tasks: readonly ExchangedTask[]): Map<string, TaskLocation> {
  const places = new Map<string, TaskLocation>();
  const after = new Map(tasks.map((task) => [task.id, task.after]));
  for (const raw of rawList(list['tasks'])) {
    const ref = String(raw['id']);
    const parts = rawList(raw['subtasks']).map((part) => ({ part, ref: partRef(ref, String(part['id'])) }));
    const partIds = new Set(parts.map(({ part, ref: each }) => idOf(part, each)));
    const id = idOf(raw, ref);
    places.set(id, { id, raw, ref, isNew: false, implied: partIds });
    const above = new Set((after.get(id) ?? []).filter((before) => !partIds.has(before)));
    for (const { part, ref: each } of parts) {
      places.set(idOf(part, each), { id: idOf(part, each), raw: part, ref: each, isNew: false, implied: above });
    }
  }
  return places;
}

function partRef(whole: string, part: string): string {
  return part.startsWith(`${whole}.`) ? part : `${whole}.${part}`;
}

function idOf(raw: RawObject, ref: string): string {
  const id = isRawObject(raw['metadata']) ? raw['metadata']['baton_id'] : undefined;
  return typeof id === 'string' && isTaskId(id) ? id : (toTaskId(ref) ?? ref);
}

function wholeNumber(id: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(id) ? Number(id) : undefined;
}

/** Subtasks, such as `3.1` of `3`: the parent depends on the part, and the part inherits its dependencies. */
function findSubtasks(tasks: readonly ExchangedTask[], fresh: ReadonlySet<string>) {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const partsOf = new Map<string, string>();
  const implied = new Map<string, ReadonlySet<string>>();
  for (const [whole, candidates] of candidatesOf(tasks, byId, fresh)) {
    const own = new Set(whole.after);
    for (const part of candidates) own.delete(part.id);
    const parts = dropInconsistentParts(candidates, own);
    for (const part of parts) {
      partsOf.set(part.id, whole.id);
      implied.set(part.id, own);
    }
    implied.set(whole.id, new Set(parts.map(({ id }) => id)));
  }
  return { partsOf, implied };
}

function candidatesOf(
  tasks: readonly ExchangedTask[],
  byId: ReadonlyMap<string, ExchangedTask>,
  fresh: ReadonlySet<string>,
): Map<ExchangedTask, ExchangedTask[]> {
  const families = new Map<ExchangedTask, ExchangedTask[]>();
  for (const task of tasks) {
    const whole = byId.get(/^([1-9]\d{0,8})\.[1-9]\d{0,8}$/.exec(task.id)?.[1] ?? '');
    if (whole === undefined || !fresh.has(task.id) || !fresh.has(whole.id) || !whole.after.includes(task.id)) continue;
    const family = families.get(whole);
    if (family === undefined) families.set(whole, [task]);
    else family.push(task);
  }
  return families;
}

/** A task that lacks a dependency in `own` cannot be a part. The parent and the other parts then depend on it. */
function dropInconsistentParts(candidates: readonly ExchangedTask[], own: Set<string>): readonly ExchangedTask[] {
  let parts = candidates;
  for (;;) {
    const fitting = parts.filter(({ after }) => own.size <= after.length && [...own].every((id) => after.includes(id)));
    if (fitting.length === parts.length) return parts;
    for (const part of parts) if (!fitting.includes(part)) own.add(part.id);
    parts = fitting;
  }
}
