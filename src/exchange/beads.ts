import { accepted, type Parsed, quote } from '../protocol/shape/problem.ts';
import type { ObjectNode } from '../protocol/text/node.ts';
import { type FoundDependency, type FoundTask, type ImportFindings, startReading } from './findings.ts';
import { fromTaskId, toTaskId } from './foreign-id.ts';
import {
  findFieldText,
  findList,
  isRawObject,
  objectsIn,
  parseJsonAt,
  parseRawJson,
  rawList,
  type RawObject,
  rawText,
} from './json.ts';
import { resolveTasks } from './resolve-tasks.ts';
import {
  type ExchangedTask,
  type ExportedText,
  type ExportOptions,
  firstWordFor,
  type ImportedTasks,
  type ImportOptions,
  isSameSet,
  type Notice,
  readExisting,
  type TaskStatus,
} from './task.ts';

/** Reads the output of `bd export` (one issue per line) or `bd list --json` (a list). */
export function parseBeads(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const found = parseRecords(findings).flatMap((record) => readIssue(record.node, record.at, findings) ?? []);
  return resolveTasks(found, findings, options);
}

function readIssue(node: ObjectNode, from: number, findings: ImportFindings): FoundTask | undefined {
  const at = from + node.at;
  const type = findFieldText(node, '_type') ?? 'issue';
  const id = findFieldText(node, 'id');
  if (type !== 'issue') {
    findings.notice(`a ${quote(type)} is not a task: skipped`, at);
    return undefined;
  }
  if (id === undefined || id === '') {
    findings.problem('import/no-id', 'an issue without an id', at, 'Every line of a beads export has one.');
    return undefined;
  }
  const word = findFieldText(node, 'status') ?? 'open';
  if (word === 'tombstone') {
    findings.notice(`${quote(id)} was deleted in beads: skipped`, at);
    return undefined;
  }
  const status = BEADS_STATUSES.get(word);
  if (status === undefined) findings.notice(`${quote(id)}: the status ${quote(word)} is unknown, read as todo`, at);
  const { after, parent } = dependenciesOf(node, id, from, findings);
  return {
    id,
    title: findFieldText(node, 'title') ?? '',
    description: descriptionOf(node),
    status: status ?? 'todo',
    reason: `${word} in beads`,
    priority: priorityIn(node),
    after,
    ...(parent === undefined ? {} : { parent }),
    at,
  };
}

function priorityIn(node: ObjectNode): number {
  const number = Number(findFieldText(node, 'priority') ?? 2);
  return Number.isInteger(number) && number >= 0 && number <= 4 ? priorityOfBeads(number) : 0;
}

function descriptionOf(node: ObjectNode): string {
  const parts = PARTS.map(([field, heading]) => {
    const text = findFieldText(node, field)?.trim() ?? '';
    return text === '' || heading === '' ? text : `## ${heading}\n\n${text}`;
  });
  return parts.filter((part) => part !== '').join('\n\n');
}

const PARTS = [
  ['description', ''],
  ['design', 'Design'],
  ['acceptance_criteria', 'Acceptance criteria'],
  ['notes', 'Notes'],
] as const;

/** Only blocking kinds of dependencies count. A child is a part of its parent. */
function dependenciesOf(node: ObjectNode, id: string, from: number, findings: ImportFindings) {
  const after: FoundDependency[] = [];
  let parent: string | undefined;
  for (const each of objectsIn(findList(node, 'dependencies'), 'a dependency', findings, from)) {
    const on = findFieldText(each, 'depends_on_id');
    const kind = findFieldText(each, 'type') ?? 'blocks';
    const at = from + each.at;
    if (on === undefined || on === '') continue;
    if (on.startsWith('external:'))
      findings.notice(`${quote(id)} waits for ${quote(on)}, outside this project: skipped`, at);
    else if (kind === 'parent-child') parent ??= on;
    else if (BLOCKING_DEPENDENCIES.has(kind)) after.push({ id: on, at });
  }
  return { after, parent };
}

function parseRecords(findings: ImportFindings): { readonly node: ObjectNode; readonly at: number }[] {
  const { text } = findings;
  if (!/^\s*\[/.test(text)) return splitBeadsLines(text).flatMap((line) => readLine(line, findings));
  const list = parseJsonAt(text, 0, findings);
  const items = list?.kind === 'list' ? objectsIn(list, 'an issue', findings) : [];
  return items.map((node) => ({ node, at: 0 }));
}

interface Line {
  readonly text: string;
  readonly at: number;
}

function splitBeadsLines(text: string): Line[] {
  let at = 0;
  return text.split('\n').map((line) => {
    const found = { text: line.endsWith('\r') ? line.slice(0, -1) : line, at };
    at += line.length + 1;
    return found;
  });
}

function readLine({ text, at }: Line, findings: ImportFindings): { readonly node: ObjectNode; readonly at: number }[] {
  if (text.trim() === '') return [];
  const node = parseJsonAt(text, at, findings);
  if (node === undefined) return [];
  if (node.kind === 'object') return [{ node, at }];
  const hint = 'See the supported formats: baton docs import';
  findings.problem('import/not-a-task', 'a line that is not an object', at, hint);
  return [];
}

/** Writes one issue per line for `bd import`. Unchanged lines of an existing export stay as they are. */
export function renderBeads(
  tasks: readonly ExchangedTask[],
  { existing = '', at }: ExportOptions,
): Parsed<ExportedText> {
  const known = new Set(tasks.map(({ id }) => id));
  const read = readExisting(existing.trim() === '' ? undefined : parseBeads(existing, { known }));
  if (!read.ok) return read;
  const before = read.value;
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
    // `bd import` refuses a longer title.
    ...(bytes > 500 ? [{ message: `${id}: beads accepts at most 500 bytes in a title`, line: null }] : []),
    ...(status === 'cancelled'
      ? [{ message: `${id} is cancelled, a status that beads lacks: written as blocked`, line: null }]
      : []),
  ];
}

/** Beads has no cancelled status; a closed task would count as done for tasks that depend on it. */
function statusOf({ status }: ExchangedTask): TaskStatus {
  return status === 'cancelled' ? 'blocked' : status;
}

/** Splits the records; a list, as `bd list --json` prints it, becomes one line per record. */
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

function update(raw: RawObject, task: ExchangedTask, before: ExchangedTask | undefined, at: string): boolean {
  const unchanged = JSON.stringify(raw);
  if (before !== undefined && before.title !== task.title) raw['title'] = task.title;
  if (BEADS_STATUSES.get(rawText(raw, 'status') ?? 'open') !== statusOf(task)) setStatus(raw, task, at);
  const priority = beadsPriority(task.priority);
  if (before === undefined || before.priority !== priorityOfBeads(priority)) raw['priority'] = priority;
  if (before === undefined || !isSameSet(before.after, task.after)) setDependencies(raw, task, before, at);
  if (JSON.stringify(raw) === unchanged) return false;
  raw['updated_at'] = at;
  return true;
}

/** Beads requires `closed_at` for closed issues and forbids it for all others. */
function setStatus(raw: RawObject, task: ExchangedTask, at: string): void {
  const status = statusOf(task);
  raw['status'] = firstWordFor(BEADS_STATUSES, status);
  if (status === 'done') raw['closed_at'] = at;
  else delete raw['closed_at'];
}

/** Omits dependencies implied by a parent. Other kinds of dependencies stay unchanged. */
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

/** The statuses of beads. The first entry for each status is the one that Baton writes. */
const BEADS_STATUSES: ReadonlyMap<string, TaskStatus> = new Map([
  ['open', 'todo'],
  ['in_progress', 'in_progress'],
  ['hooked', 'in_progress'],
  ['closed', 'done'],
  ['blocked', 'blocked'],
  ['deferred', 'blocked'],
  ['pinned', 'blocked'],
]);

/** Dependency kinds that block a task, besides being a part. */
const BLOCKING_DEPENDENCIES: ReadonlySet<string> = new Set(['blocks', 'conditional-blocks', 'waits-for']);

/** Beads counts from 0 (most urgent) to 4; the default is 2. */
function priorityOfBeads(beads: number): number {
  return (2 - beads) * 10;
}

function beadsPriority(priority: number): number {
  return Math.min(4, Math.max(0, 2 - Math.round(priority / 10)));
}
