/** An object of JSON, YAML or TOML with unknown fields. */
export interface Fields {
  readonly [name: string]: unknown;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function namesIn(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
