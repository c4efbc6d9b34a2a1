/** An object of JSON, YAML or TOML with unknown fields. */
export interface UnknownTable {
  readonly [name: string]: unknown;
}

export function isUnknownTable(value: unknown): value is UnknownTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function namesIn(value: unknown): string[] {
  return isUnknownTable(value) ? Object.keys(value) : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
