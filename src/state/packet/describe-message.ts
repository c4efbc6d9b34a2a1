import { parseHandoff, type HandoffMessage } from '../../protocol/handoff/index.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import type { Events } from '../event.ts';
import { PLACEHOLDER_URL } from '../workflow/gate-handoffs.ts';
import type { HandoffRef } from '../workflow/workflow-event.ts';

/** Describes a handoff in lines `name: value`, or as XML if a runbook defines its form. */
export function describeHandoff({ xml }: Pick<HandoffRef, 'xml'>): string {
  const parsed = parseHandoff(xml);
  return parsed.ok ? describeFields(handoffFields(parsed.value)) : xml;
}

/** Omitted, because the statement's title has the routing, and the task's own number helps no reader. */
const ROUTING: ReadonlySet<string> = new Set(['kind', 'from', 'to', 'issue_number', 'timestamp']);
/** These fields come first, since the end of a long text may be cut. */
const FIRST = ['error', 'summary', 'requirements', 'blocking_issues', 'failures', 'fixes_applied', 'data'];

function handoffFields(message: HandoffMessage): readonly (readonly [string, unknown])[] {
  const fields = Object.entries(message).filter(([name, value]) => !ROUTING.has(name) && !isPlaceholder(value));
  const rank = ([name]: readonly [string, unknown]): number =>
    (FIRST.indexOf(name) + FIRST.length + 1) % (FIRST.length + 1);
  return fields.sort((a, b) => rank(a) - rank(b));
}

/** Reports whether an address is a placeholder, as in a task without a remote. */
function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(PLACEHOLDER_URL);
}

/** Describes fields. Nested values are indented; empty values are omitted. */
export function describeFields(fields: readonly (readonly [string, unknown])[], indent = ''): string {
  return fields
    .flatMap(([name, value]) => {
      const described = describeValue(value, `${indent}  `);
      if (described === '') return [];
      return [`${indent}${name}:${described.startsWith('\n') ? '' : ' '}${described}`];
    })
    .join('\n');
}

function describeValue(value: unknown, indent: string): string {
  if (value === null || value === undefined || value === '') return '';
  if (Array.isArray(value)) return value.map((item) => `\n${indent}- ${describeItem(item, indent)}`).join('');
  if (typeof value === 'object') return `\n${describeFields(Object.entries(value), indent)}`;
  return describeScalar(value);
}

export function describeScalar(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Describes an item of a list: its text, then its attributes in brackets. An element of free content has its name. */
function describeItem(item: unknown, indent: string): string {
  if (typeof item !== 'object' || item === null) return describeValue(item, indent);
  const { text, name, content, attributes, ...others } = item as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const known = typeof attributes === 'object' && attributes !== null ? { ...others, ...attributes } : others;
  const words = [
    name === undefined ? '' : `${describeValue(name, indent)}:`,
    describeValue(text ?? content, `${indent}  `),
  ];
  const tags = Object.entries(known).map(([key, each]) => `${key}: ${describeValue(each, indent)}`);
  return [words.filter((each) => each !== '').join(' '), tags.length === 0 ? '' : `(${tags.join(', ')})`]
    .filter((each) => each !== '')
    .join(' ');
}

/**
 * Describes a record in the order of the ledger's bytes: a running daemon folds a record as it was sent, a later one as
 * it is stored, and both states must be equal.
 */
export function describeRecord(record: ThoughtRecord): string {
  const { task_id: _, summary, blockers, notes, status, ...others } = record;
  const blocking = blockers.map((blocker) => JSON.stringify(blocker, sortFields));
  return describeFields([
    ['summary', summary],
    ['blockers', blocking],
    ['notes', notes],
    ['status', status],
    ...Object.entries(others)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const),
  ]);
}

function sortFields(_name: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Describes a note. File names come from agents, so they are quoted. */
export function describeNote({ text, path, line, head }: Omit<Events['NoteAdded'], 'task_id'>): string {
  if (path === undefined) return text;
  const at = head === undefined ? '' : ` at commit ${head}`;
  return `On ${JSON.stringify(path)}${line === undefined ? '' : `, line ${line}`}${at}:\n${text}`;
}
