import { isTaskId } from '../foreign-id.ts';
import type { TaskStatus } from '../task.ts';

/** What the first line of an item says. */
export interface ItemHead {
  readonly id?: string;
  readonly title: string;
  readonly after: readonly string[];
  readonly priority: number;
  readonly reason: string | null;
}

/** `Set the linter up (id: T2; after: T1; priority: 5)`; the id may also stand first, `T2: Set the linter up`, if there is a digit in it. */
export function parseItemHead(text: string): ItemHead {
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

/** Undefined where it is none of ours: an aside in brackets is a part of the title. */
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

/** A reason reaches to the closing bracket. */
const REASONS: ReadonlySet<string> = new Set(['blocked', 'cancelled']);

function setDetail(details: Details, name: string, value: string): boolean {
  if (name === 'id') details.id = value;
  else if (name === 'priority') details.priority = Number(value);
  else if (REASONS.has(name)) details.reason = value;
  else details.after = value.split(',').map((id) => id.trim().replace(/^#/, ''));
  if (name === 'id') return isTaskId(value);
  return name === 'priority' ? /^-?\d{1,15}$/.test(value) : REASONS.has(name) || (details.after ?? []).every(isTaskId);
}

export function renderItemHead({
  id,
  title,
  after,
  priority,
  reason,
  status,
}: ItemHead & { readonly status?: TaskStatus }): string {
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
