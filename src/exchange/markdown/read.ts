import type { Parsed } from '../../protocol/shape/problem.ts';
import { type FoundTask, type ImportFindings, startReading } from '../findings.ts';
import { isTaskId } from '../foreign-id.ts';
import { resolveTasks } from '../resolve-tasks.ts';
import type { ImportedTasks, ImportOptions, TaskStatus } from '../task.ts';
import { BOXES, findItems, findOddBoxes, type ListItem } from './items.ts';

/** Reads a Markdown list. Items with checkboxes are tasks, and nested items are their parts; see docs/import.md. */
export function parseMarkdown(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const found = findNamedItems(findings.text, findings);
  for (const { box, at } of findOddBoxes(findings.text))
    findings.notice(`the box [${box}] is unknown: the item is not read as a task`, at);
  return resolveTasks(found.map(foundTask), findings, options);
}

export interface NamedItem {
  readonly item: ListItem;
  readonly head: ItemHead;
  readonly id: string;
  readonly parent: string | undefined;
}

export function findNamedItems(text: string, findings: ImportFindings): readonly NamedItem[] {
  const items = findItems(text).map((item) => ({ item, head: parseItemHead(item.text) }));
  const taken = new Set(items.flatMap(({ head }) => head.id ?? []));
  const ids = new Map<ListItem, string>();
  const next = new Map<string, number>();
  return items.map(({ item, head }) => {
    const id = head.id ?? freeSlug(head.title, taken, next);
    if (head.id === undefined && id !== idOfTitle(head.title)) {
      findings.notice(`another item has the same title: this one gets the id ${id}`, item.at);
    }
    ids.set(item, id);
    return { item, head, id, parent: item.parent === undefined ? undefined : ids.get(item.parent) };
  });
}

function freeSlug(title: string, taken: Set<string>, next: Map<string, number>): string {
  const slug = idOfTitle(title);
  let id = slug;
  // Continues counting from the last number, so that a thousand equal titles stay fast.
  for (let i = next.get(slug) ?? 2; taken.has(id); i++) {
    id = `${slug}-${i}`;
    next.set(slug, i + 1);
  }
  taken.add(id);
  return id;
}

function foundTask({ item, head, id, parent }: NamedItem): FoundTask {
  const status = BOXES.get(item.box ?? ' ') ?? 'todo';
  return {
    id,
    taskId: id,
    title: head.title,
    description: descriptionOf(item),
    status,
    reason: head.reason ?? `${status} in the list`,
    priority: head.priority,
    after: head.after.map((before) => ({ id: before, at: item.at })),
    ...(parent === undefined ? {} : { parent }),
    at: item.at,
  };
}

/** `renderMarkdown` escapes checkboxes in descriptions, which would otherwise be tasks. */
function descriptionOf({ body }: ListItem): string {
  const lines = body.map((line) =>
    line.replace(/^([ \t]*)\\(?=\\*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX/~!-]\](?:[ \t]|$))/, '$1'),
  );
  const first = lines.findIndex((line) => line.trim() !== '');
  return first < 0 ? '' : lines.slice(first).join('\n').trimEnd();
}

export interface ItemHead {
  readonly id?: string;
  readonly title: string;
  readonly after: readonly string[];
  readonly priority: number;
  readonly reason: string | null;
}

/** Parses `Set it up (id: T2; after: T1; priority: 5)`, or `T2: Set it up` if the id has a digit. */
function parseItemHead(text: string): ItemHead {
  const trimmed = text.trim();
  const open = trimmed.endsWith(')') ? trimmed.lastIndexOf('(') : -1;
  const details = open < 0 ? undefined : parseDetails(trimmed.slice(open + 1, -1));
  const rest = details === undefined ? trimmed : trimmed.slice(0, open).trimEnd();
  const first = details?.id === undefined ? FIRST.exec(rest) : null;
  const id = details?.id ?? first?.[1] ?? first?.[2];
  const title = first === null ? rest : rest.slice(first[0].length);
  const { after = [], priority = 0, reason = null } = details ?? {};
  return { ...(id === undefined ? {} : { id }), title, after, priority, reason };
}

const ID = '(?=[A-Za-z._-]*[0-9])[A-Za-z0-9][A-Za-z0-9._-]{0,63}';
const FIRST = new RegExp(`^(?:(?:\\*\\*|__|\`)(${ID})(?:\\*\\*|__|\`):?[ \\t]+|(${ID}):[ \\t]+)`);
type Details = { -readonly [K in keyof ItemHead]?: ItemHead[K] };

/** Undefined for any other text in brackets, which belongs to the title. */
function parseDetails(text: string): Details | undefined {
  const details: Details = {};
  if (text.includes(')')) return undefined;
  for (let rest = text; rest.trim() !== '';) {
    const [all = '', name = ''] = NAME.exec(rest) ?? [];
    if (all === '') return undefined;
    const end = REASONS.has(name.toLowerCase()) ? -1 : rest.indexOf(';');
    const value = rest.slice(all.length, end < 0 ? undefined : end).trim();
    rest = end < 0 ? '' : rest.slice(end + 1);
    if (!setDetail(details, name.toLowerCase(), value)) return undefined;
  }
  return Object.keys(details).length === 0 ? undefined : details;
}

const NAME = /^\s*(id|after|depends on|blocked by|priority|blocked|cancelled)\s*:/i;
/** Details whose text extends to the closing bracket. */
const REASONS: ReadonlySet<string> = new Set(['blocked', 'cancelled']);

function setDetail(details: Details, name: string, value: string): boolean {
  if (name === 'id') details.id = value;
  else if (name === 'priority') details.priority = Number(value);
  else if (REASONS.has(name)) details.reason = value;
  else details.after = value.split(',').map((id) => id.trim().replace(/^#/, ''));
  if (name === 'id') return isTaskId(value);
  return name === 'priority' ? /^-?\d{1,15}$/.test(value) : REASONS.has(name) || (details.after ?? []).every(isTaskId);
}

export function renderItemHead(head: ItemHead & { readonly status?: TaskStatus }): string {
  const { id, title, after, priority, reason, status } = head;
  const word = status === 'cancelled' ? 'cancelled' : 'blocked';
  const details = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(after.length === 0 ? [] : [`after: ${after.join(', ')}`]),
    ...(priority === 0 ? [] : [`priority: ${priority}`]),
    ...(reason === null ? [] : [`${word}: ${oneLine(reason).replaceAll('(', '[').replaceAll(')', ']')}`]),
  ];
  return details.length === 0 ? oneLine(title) : `${oneLine(title)} (${details.join('; ')})`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** Derives an id from a title, so that the id does not depend on the order of the list. */
function idOfTitle(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const short = words.length <= LONGEST ? words : words.slice(0, LONGEST).replace(/-[^-]*$/, '');
  return short === '' ? `task-${fingerprint(title)}` : short;
}

const LONGEST = 48;

/** FNV-1a hash for titles without Latin letters or digits. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
