/** A value for comparison and display: plain JSON with sorted names. */
export type GateValue =
  | null
  | boolean
  | number
  | string
  | readonly GateValue[]
  | { readonly [name: string]: GateValue };

export function plain(value: unknown): GateValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (typeof value !== 'object') return null;
  const entries = Object.entries(value).filter(([, each]: [string, unknown]) => each !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, plain(each)]));
}
