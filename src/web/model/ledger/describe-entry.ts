import { fieldOf, findText, isObject } from '../../../protocol/shape/read-unknown.ts';

/** An entry as `entries_read` returns it. */
export interface ShownEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly cause: number | null;
  readonly data: object;
  readonly hash: string;
}

/** The subjects of an entry, for links. */
export interface EntrySubjects {
  readonly task?: string;
  readonly agent?: string;
  readonly decision?: string;
  readonly pipeline?: string;
}

export function subjectsOf(data: object): EntrySubjects {
  const task = findText(fieldOf(data, 'task_id')) ?? findText(fieldOf(fieldOf(data, 'task'), 'task_id'));
  const agent = findText(fieldOf(data, 'agent_id'));
  const decision = findText(fieldOf(data, 'decision_id'));
  const pipeline = findText(fieldOf(data, 'pipeline_id'));
  return {
    ...(task === undefined ? {} : { task }),
    ...(agent === undefined ? {} : { agent }),
    ...(decision === undefined ? {} : { decision }),
    ...(pipeline === undefined ? {} : { pipeline }),
  };
}

/** The most useful fields for people, in order. */
const TELLING = [
  'title', 'message', 'to', 'outcome', 'reason', 'summary', 'notes', 'text', 'prompt', 'name', 'step', 'ref', 'role',
  'holder', 'path', 'branch', 'host', 'how', 'why', 'exit_reason', 'result', 'record', 'plan',
] as const; // prettier-ignore

/** Fields that the row shows elsewhere, or that are useless in one line. */
const HIDDEN: ReadonlySet<string> = new Set([
  ...TELLING, 'epoch', 'settles', 'event_type', 'source', 'timestamp', 'principal', 'xml', 'committed', 'start',
]); // prettier-ignore

const MOST_CHARACTERS = 160;
const MOST_FIELDS = 3;

/**
 * Describes an entry's data in one line: its most useful fields, then a few others. The text is from agents and people.
 */
export function describeData(data: object): string {
  const told = new Set(TELLING.map((name) => shortText(fieldOf(data, name))).filter((text) => text !== undefined));
  const agent = findText(fieldOf(data, 'agent_id'));
  if (agent !== undefined) told.add(`agent ${shortText(agent) ?? ''}`);
  for (const [name, value] of Object.entries(data)) {
    const text = HIDDEN.has(name) || name.endsWith('_id') || value === false ? undefined : shortText(value);
    if (text !== undefined) told.add(value === true ? name : `${name}: ${text}`);
  }
  return cut([...told].slice(0, MOST_FIELDS).join(' · '), MOST_CHARACTERS);
}

/** Returns undefined for values that one line cannot show. */
function shortText(value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (/^[0-9a-f]{32,}$|^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value)) return value.slice(0, 8);
    return value === '' ? undefined : cut(value.slice(0, 4 * MOST_CHARACTERS), MOST_CHARACTERS / 2);
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : String(value.length);
  if (!isObject(value)) return undefined;
  const { summary, name, status, id, kind } = value;
  const found = [summary, name, status, id, kind].map(findText).find((text) => text !== undefined);
  return found === undefined ? undefined : shortText(found);
}

function cut(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** Shortens `session:…`, `operator:…` and `system:…` while they stay distinguishable. */
export function shortActor(actor: string): string {
  const [kind = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  return kind === 'session' && /^[0-9a-f-]{20,}$/.test(name)
    ? `session ${name.slice(0, 8)}`
    : name === ''
      ? kind
      : name;
}
