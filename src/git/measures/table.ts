/** A JSON, YAML or TOML object of which nothing is known yet. */
export interface UnknownTable {
  readonly [name: string]: unknown;
}

export function isUnknownTable(value: unknown): value is UnknownTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The names in a table; none where it is not one. */
export function namesIn(value: unknown): string[] {
  return isUnknownTable(value) ? Object.keys(value) : [];
}

/** The texts in a list; none where it is not one. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
