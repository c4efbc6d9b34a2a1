import { FILTER_KEYS, FILTER_VALUES, type FilterKey } from './task-filter.ts';

/** Known values of keys that accept any text. */
export type KnownValues = Readonly<Partial<Record<FilterKey, readonly string[]>>>;

const MOST = 12;

/** Suggests completions, as whole texts that a field can take unchanged. */
export function suggestFilters(text: string, known: KnownValues): readonly string[] {
  const [, before = '', minus = '', last = ''] = /^(.*?)(-?)([^\s"]*)$/s.exec(text) ?? [];
  if (before.split('"').length % 2 === 0) return [];
  const [name = '', value] = last.split(':', 2);
  const start = `${before}${minus}`;
  if (value === undefined) {
    const keys = FILTER_KEYS.filter((key) => key.startsWith(name.toLowerCase()));
    return keys.map((key) => `${start}${key}:`);
  }
  const key = FILTER_KEYS.find((each) => each === name.toLowerCase());
  if (key === undefined) return [];
  const values = FILTER_VALUES[key] ?? known[key] ?? [];
  const fitting = values.filter((each) => each.toLowerCase().startsWith(value.toLowerCase()));
  return fitting.slice(0, MOST).map((each) => `${start}${key}:${/\s/.test(each) ? `"${each}"` : each}`);
}
