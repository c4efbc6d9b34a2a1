export type JsonFields = Readonly<Record<string, unknown>>;

/** The object on a line, or nothing: clients print other things too. */
export function parseJsonFields(line: string): JsonFields | null {
  if (!line.startsWith('{')) return null;
  try {
    return asJsonFields(JSON.parse(line));
  } catch {
    return null;
  }
}

export function asJsonFields(value: unknown): JsonFields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // What was parsed from JSON has names and values, and nothing else.
  return isObject ? (value as JsonFields) : {}; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function asJsonFieldsList(value: unknown): readonly JsonFields[] {
  return Array.isArray(value) ? value.map(asJsonFields) : [];
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** Seconds since 1970 as RFC 3339. */
export function renderEpochSeconds(value: unknown): string | null {
  return typeof value === 'number' && value > 0 && value < 1e11 ? new Date(value * 1000).toISOString() : null;
}
