import { accepted, type Parsed } from '../protocol/shape/problem.ts';
import type { ExportOptions } from './format.ts';
import { fromTaskId, toTaskId } from './foreign-id.ts';
import { isRawObject, parseRawJson, rawList, rawText, type RawObject } from './json.ts';
import { isSameSet, firstWordFor } from './same.ts';
import type { ExchangedTask, Notice, ExportedText, TaskStatus } from './task.ts';
import { parseBeads } from './beads.ts';
import { splitBeadsLines } from './records.ts';
import { BLOCKING_DEPENDENCIES, beadsPriority, priorityOfBeads, BEADS_STATUSES } from './words.ts';

/** One issue a line, for `bd import`. In an export that is there already, lines that say the same stay as they are. */
export function renderBeads(
  tasks: readonly ExchangedTask[],
  { existing = '', at }: ExportOptions,
): Parsed<ExportedText> {
  const known = new Set(tasks.map(({ id }) => id));
  const read = existing.trim() === '' ? undefined : parseBeads(existing, { known });
  if (read?.ok === false && read.problems[0].code !== 'import/no-tasks') return read;
  const before = new Map(read?.ok === true ? read.value.tasks.map((task) => [task.id, task]) : []);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const lines = recordsIn(existing).map(({ line, raw }) => {
    const id = toTaskId(rawText(raw, 'id') ?? '');
    const task = id === undefined || !before.has(id) ? undefined : byId.get(id);
    return task === undefined || !update(raw, task, before.get(task.id), at) ? line : JSON.stringify(raw);
  });
  const added = tasks.filter(({ id }) => !before.has(id)).map((task) => JSON.stringify(newRecord(task, at)));
  const text = [...lines, ...added].map((line) => `${line}\n`).join('');
  return accepted({ text, notices: tasks.flatMap(noticesOf) });
}

function noticesOf({ id, title, status }: ExchangedTask): Notice[] {
  const bytes = new TextEncoder().encode(title).length;
  return [
    // Beads refuses longer ones when it imports.
    ...(bytes > 500 ? [{ message: `${id}: beads takes no title of more than 500 bytes`, line: null }] : []),
    ...(status === 'cancelled'
      ? [{ message: `${id} is cancelled; beads has no such status: blocked`, line: null }]
      : []),
  ];
}

/** Beads has no word for a task that was given up: closed would count as done for those that wait for it. */
function statusOf({ status }: ExchangedTask): TaskStatus {
  return status === 'cancelled' ? 'blocked' : status;
}

/** A list, as `bd list --json` prints it, becomes lines. */
function recordsIn(existing: string): { readonly line: string; readonly raw: RawObject }[] {
  const text = existing.startsWith('\ufeff') ? existing.slice(1) : existing;
  if (/^\s*\[/.test(text)) return rawList(parseRawJson(text)).map((raw) => ({ line: JSON.stringify(raw), raw }));
  return splitBeadsLines(text).flatMap(({ text: line }) => {
    const raw = line.trim() === '' ? undefined : parseRawJson(line);
    return isRawObject(raw) ? [{ line, raw }] : [];
  });
}

function newRecord(task: ExchangedTask, at: string): RawObject {
  const raw: RawObject = { _type: 'issue', id: fromTaskId(task.id), title: task.title };
  if (task.description !== '') raw['description'] = task.description;
  Object.assign(raw, { status: 'open', priority: 2, issue_type: 'task', created_at: at, updated_at: at });
  update(raw, task, undefined, at);
  return raw;
}

/** Whether anything was different. */
function update(raw: RawObject, task: ExchangedTask, before: ExchangedTask | undefined, at: string): boolean {
  const said = JSON.stringify(raw);
  if (before !== undefined && before.title !== task.title) raw['title'] = task.title;
  if (BEADS_STATUSES.get(rawText(raw, 'status') ?? 'open') !== statusOf(task)) setStatus(raw, task, at);
  const priority = beadsPriority(task.priority);
  if (before === undefined || before.priority !== priorityOfBeads(priority)) raw['priority'] = priority;
  if (before === undefined || !isSameSet(before.after, task.after)) setDependencies(raw, task, before, at);
  if (JSON.stringify(raw) === said) return false;
  raw['updated_at'] = at;
  return true;
}

/** `closed_at` is there exactly where the issue is closed, or beads refuses it. */
function setStatus(raw: RawObject, task: ExchangedTask, at: string): void {
  const status = statusOf(task);
  raw['status'] = firstWordFor(BEADS_STATUSES, status);
  if (status === 'done') raw['closed_at'] = at;
  else delete raw['closed_at'];
}

/** What is waited for through a parent needs no word; other kinds of dependencies are none of ours. */
function setDependencies(
  raw: RawObject,
  { after }: ExchangedTask,
  before: ExchangedTask | undefined,
  at: string,
): void {
  const wanted = new Set(after);
  const kept = rawList(raw['dependencies']).filter(
    (each) =>
      !BLOCKING_DEPENDENCIES.has(rawText(each, 'type') ?? 'blocks') ||
      wanted.has(toTaskId(rawText(each, 'depends_on_id') ?? '') ?? ''),
  );
  const added = after
    .filter((id) => !(before?.after.includes(id) ?? false))
    .map((id) => ({ issue_id: raw['id'], depends_on_id: fromTaskId(id), type: 'blocks', created_at: at }));
  const all = [...kept, ...added];
  if (all.length > 0) raw['dependencies'] = all;
  else delete raw['dependencies'];
}
