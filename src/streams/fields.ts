export type Fields = Readonly<Record<string, unknown>>;

/** The object on a line, or nothing: clients print other things too. */
export function parseFields(line: string): Fields | null {
  if (!line.startsWith('{')) return null;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return null;
  }
}

export function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // What was parsed from JSON has names and values, and nothing else.
  return isObject ? (value as Fields) : {}; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** Seconds since 1970 as RFC 3339. */
export function timeOfSeconds(value: unknown): string | null {
  return typeof value === 'number' && value > 0 && value < 1e11 ? new Date(value * 1000).toISOString() : null;
}
