/** A JSON, YAML or TOML object of which nothing is known yet. */
export interface Table {
  readonly [name: string]: unknown;
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The names in a table; none where it is not one. */
export function namesIn(value: unknown): string[] {
  return isTable(value) ? Object.keys(value) : [];
}

/** The texts in a list; none where it is not one. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
