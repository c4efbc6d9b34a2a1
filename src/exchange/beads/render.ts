import { accepted, type Parsed } from '../../protocol/problem.ts';
import type { RenderOptions } from '../format.ts';
import { fromTaskId, toTaskId } from '../foreign-id.ts';
import { isRaw, parseRaw, rawList, rawText, type Raw } from '../json.ts';
import { isSameSet, wordFor } from '../same.ts';
import type { ExchangedTask, Notice, Rendering, TaskStatus } from '../task.ts';
import { readBeads } from './read.ts';
import { linesOf } from './records.ts';
import { BLOCKING, beadsPriority, priorityOf, STATUSES } from './words.ts';

/** One issue a line, for `bd import`. In an export that is there already, lines that say the same stay as they are. */
export function renderBeads(tasks: readonly ExchangedTask[], { existing = '', at }: RenderOptions): Parsed<Rendering> {
  const known = new Set(tasks.map(({ id }) => id));
  const read = existing.trim() === '' ? undefined : readBeads(existing, { known });
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
function recordsIn(existing: string): { readonly line: string; readonly raw: Raw }[] {
  const text = existing.startsWith('\ufeff') ? existing.slice(1) : existing;
  if (/^\s*\[/.test(text)) return rawList(parseRaw(text)).map((raw) => ({ line: JSON.stringify(raw), raw }));
  return linesOf(text).flatMap(({ text: line }) => {
    const raw = line.trim() === '' ? undefined : parseRaw(line);
    return isRaw(raw) ? [{ line, raw }] : [];
  });
}

function newRecord(task: ExchangedTask, at: string): Raw {
  const raw: Raw = { _type: 'issue', id: fromTaskId(task.id), title: task.title };
  if (task.description !== '') raw['description'] = task.description;
  Object.assign(raw, { status: 'open', priority: 2, issue_type: 'task', created_at: at, updated_at: at });
  update(raw, task, undefined, at);
  return raw;
}

/** Whether anything was different. */
function update(raw: Raw, task: ExchangedTask, before: ExchangedTask | undefined, at: string): boolean {
  const said = JSON.stringify(raw);
  if (before !== undefined && before.title !== task.title) raw['title'] = task.title;
  if (STATUSES.get(rawText(raw, 'status') ?? 'open') !== statusOf(task)) setStatus(raw, task, at);
  const priority = beadsPriority(task.priority);
  if (before === undefined || before.priority !== priorityOf(priority)) raw['priority'] = priority;
  if (before === undefined || !isSameSet(before.after, task.after)) setDependencies(raw, task, before, at);
  if (JSON.stringify(raw) === said) return false;
  raw['updated_at'] = at;
  return true;
}

/** `closed_at` is there exactly where the issue is closed, or beads refuses it. */
function setStatus(raw: Raw, task: ExchangedTask, at: string): void {
  const status = statusOf(task);
  raw['status'] = wordFor(STATUSES, status);
  if (status === 'done') raw['closed_at'] = at;
  else delete raw['closed_at'];
}

/** What is waited for through a parent needs no word; other kinds of dependencies are none of ours. */
function setDependencies(raw: Raw, { after }: ExchangedTask, before: ExchangedTask | undefined, at: string): void {
  const wanted = new Set(after);
  const kept = rawList(raw['dependencies']).filter(
    (each) =>
      !BLOCKING.has(rawText(each, 'type') ?? 'blocks') ||
      wanted.has(toTaskId(rawText(each, 'depends_on_id') ?? '') ?? ''),
  );
  const added = after
    .filter((id) => !(before?.after.includes(id) ?? false))
    .map((id) => ({ issue_id: raw['id'], depends_on_id: fromTaskId(id), type: 'blocks', created_at: at }));
  const all = [...kept, ...added];
  if (all.length > 0) raw['dependencies'] = all;
  else delete raw['dependencies'];
}
