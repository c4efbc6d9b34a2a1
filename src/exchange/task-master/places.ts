import { isTaskId, toTaskId } from '../foreign-id.ts';
import { isRawObject, rawList, type RawObject } from '../json.ts';
import type { ExchangedTask } from '../task.ts';
import { findSubtasks } from './subtasks.ts';

/** Where a task stands in a file of task-master. */
export interface TaskLocation {
  readonly id: string;
  readonly raw: RawObject;
  /** How task-master refers to it: `3`, or `3.1`. */
  readonly ref: string;
  readonly isNew: boolean;
  /** What it waits for without a word, since it is a part of something or has parts. */
  readonly said: ReadonlySet<string>;
}

export type TaskLocations = ReadonlyMap<string, TaskLocation>;

/** A place for every task, those that have one first. New ones are put into the list. */
export function placeTasks(tasks: readonly ExchangedTask[], list: RawObject): TaskLocations {
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
    places.set(id, { id, raw, ref: String(number), isNew: true, said: parts.said.get(id) ?? new Set() });
  }
  for (const { id } of fresh.filter((task) => !isTop(task))) {
    const [whole = '', number = ''] = id.split('.');
    const parent = places.get(whole);
    if (parent === undefined) continue;
    const ref = `${parent.ref}.${number}`;
    const raw = named(
      { id: Number(number), title: '', description: '', details: '', status: '', dependencies: [] },
      ref,
      id,
    );
    parent.raw['subtasks'] = [...rawList(parent.raw['subtasks']), raw];
    places.set(id, { id, raw, ref, isNew: true, said: parts.said.get(id) ?? new Set() });
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

/** What is there: a whole waits for its parts, and the parts for what the whole waits for. */
function existingPlaces(list: RawObject, tasks: readonly ExchangedTask[]): Map<string, TaskLocation> {
  const places = new Map<string, TaskLocation>();
  const after = new Map(tasks.map((task) => [task.id, task.after]));
  for (const raw of rawList(list['tasks'])) {
    const ref = String(raw['id']);
    const parts = rawList(raw['subtasks']).map((part) => ({ part, ref: partRef(ref, String(part['id'])) }));
    const partIds = new Set(parts.map(({ part, ref: each }) => idOf(part, each)));
    const id = idOf(raw, ref);
    places.set(id, { id, raw, ref, isNew: false, said: partIds });
    const above = new Set((after.get(id) ?? []).filter((before) => !partIds.has(before)));
    for (const { part, ref: each } of parts) {
      places.set(idOf(part, each), { id: idOf(part, each), raw: part, ref: each, isNew: false, said: above });
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
