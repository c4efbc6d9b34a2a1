import { ACTIVITIES, PHASES } from '../../../protocol/phase.ts';
import { SHOWN_STATUSES } from '../../../protocol/shape/shared-fields.ts';

/** A parsed filter of tasks: `status:blocked role:reviewer -holder:ann words "and phrases"`. */
export interface TaskFilter {
  readonly conditions: readonly Condition[];
  readonly words: readonly Word[];
  /** Parse errors in words. A filter with problems matches nothing: ignoring a part would show too much. */
  readonly problems: readonly string[];
}

interface Condition {
  readonly key: FilterKey;
  /** The accepted values; one of them must match. */
  readonly values: readonly string[];
  readonly isNot: boolean;
}

interface Word {
  readonly text: string;
  readonly isNot: boolean;
}

/** The facts about a task that a filter uses. The functions cost more, and are called only if the filter names them. */
export interface TaskFacts {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly phase: string;
  readonly role: string | null;
  readonly holder: string | null;
  readonly after: readonly string[];
  isClaimable(): boolean;
  activity(): string;
  isCritical(): boolean;
  /** Reports whether the task with this id, in lower case, waits for it. */
  isBefore(id: string): boolean;
}

const YES_NO = ['yes', 'no'] as const;

/** The values of each key; null if it accepts any text. */
export const FILTER_VALUES = {
  status: ['open', ...SHOWN_STATUSES],
  phase: PHASES.map((phase) => phase.toLowerCase()),
  role: null,
  holder: null,
  claimable: YES_NO,
  activity: ACTIVITIES,
  critical: YES_NO,
  after: null,
  before: null,
} as const satisfies Readonly<Record<string, readonly string[] | null>>;

export type FilterKey = keyof typeof FILTER_VALUES;
export const FILTER_KEYS = Object.keys(FILTER_VALUES) as readonly FilterKey[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

export function parseTaskFilter(text: string): TaskFilter {
  const conditions: Condition[] = [];
  const words: Word[] = [];
  const problems: string[] = [];
  for (const token of tokensOf(text)) {
    const { isNot, name, rest } = readToken(token);
    if (name === undefined) {
      const word = unquote(rest).toLowerCase();
      if (word !== '') words.push({ text: word, isNot });
      continue;
    }
    const key = findKey(name);
    if (key === undefined) {
      problems.push(
        `There is no filter ${name}. There are ${FILTER_KEYS.join(', ')}. To find the text, write "${name}:…" in quotes.`,
      );
      continue;
    }
    const read = readValues(key, rest);
    problems.push(...read.problems);
    // A key without a value is still being typed.
    if (read.values.length > 0) conditions.push({ key, values: read.values, isNot });
  }
  return { conditions, words, problems };
}

/** Splits the text at spaces outside quotes. */
function tokensOf(text: string): readonly string[] {
  return text.match(/(?:"[^"]*"?|[^\s"])+/g) ?? [];
}

function readToken(token: string): { readonly isNot: boolean; readonly name?: string; readonly rest: string } {
  const isNot = token.length > 1 && token.startsWith('-');
  const body = isNot ? token.slice(1) : token;
  const [, name, rest] = /^([a-z][a-z_-]*):(.*)$/is.exec(body) ?? [];
  return name === undefined || rest === undefined ? { isNot, rest: body } : { isNot, name: name.toLowerCase(), rest };
}

function findKey(name: string): FilterKey | undefined {
  return FILTER_KEYS.find((key) => key === name);
}

function unquote(text: string): string {
  return text.replaceAll('"', '');
}

function readValues(
  key: FilterKey,
  text: string,
): { readonly values: readonly string[]; readonly problems: readonly string[] } {
  const given = unquote(text)
    .toLowerCase()
    .split(',')
    .filter((value) => value !== '');
  const known = FILTER_VALUES[key];
  if (known === null) return { values: given, problems: [] };
  const values: string[] = [];
  const problems: string[] = [];
  for (const value of given) {
    const found = findValues(known, value.replaceAll(/[\s-]/g, '_'));
    values.push(...found);
    if (found.length === 0) problems.push(`${key} is one of ${known.join(', ')}, not ${value}.`);
  }
  return { values, problems };
}

/** Returns the known values that start with the given text. */
function findValues(known: readonly string[], given: string): readonly string[] {
  return known.includes(given) ? [given] : known.filter((value) => value.startsWith(given));
}

export function matchesTask(filter: TaskFilter, task: TaskFacts): boolean {
  if (filter.problems.length > 0) return false;
  if (!filter.conditions.every((condition) => meets(condition, task) !== condition.isNot)) return false;
  if (filter.words.length === 0) return true;
  const text = `${task.id} ${task.title}`.toLowerCase();
  return filter.words.every((word) => text.includes(word.text) !== word.isNot);
}

function meets({ key, values }: Condition, task: TaskFacts): boolean {
  return values.some((value) => MEETS[key](task, value));
}

const MEETS: Readonly<Record<FilterKey, (task: TaskFacts, value: string) => boolean>> = {
  status: ({ status }, value) => (value === 'open' ? status !== 'done' && status !== 'cancelled' : status === value),
  phase: ({ phase }, value) => phase.toLowerCase() === value,
  role: ({ role }, value) => role?.toLowerCase() === value,
  holder: ({ holder }, value) => holder?.toLowerCase().includes(value) ?? false,
  claimable: (task, value) => task.isClaimable() === (value === 'yes'),
  activity: (task, value) => task.activity() === value,
  critical: (task, value) => task.isCritical() === (value === 'yes'),
  after: ({ after }, value) => after.some((id) => id.toLowerCase() === value),
  before: (task, value) => task.isBefore(value),
};

/** The filter without its conditions on a key. */
export function withoutKey(filter: TaskFilter, key: FilterKey): TaskFilter {
  return { ...filter, conditions: filter.conditions.filter((condition) => condition.key !== key) };
}

/** The value of a key, if the text has exactly one. */
export function valueIn(text: string, key: FilterKey): string | undefined {
  const own = parseTaskFilter(text).conditions.filter((condition) => condition.key === key);
  const [first] = own;
  return own.length === 1 && first?.values.length === 1 && !first.isNot ? first.values[0] : undefined;
}

/** The text with this value of a key instead of all others; undefined removes the key. */
export function setValue(text: string, key: FilterKey, value: string | undefined): string {
  const kept = tokensOf(text).filter((token) => readToken(token).name !== key);
  return [...kept, ...(value === undefined ? [] : [`${key}:${value}`])].join(' ');
}
