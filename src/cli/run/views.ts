/** Reads entries field by field: a ledger also holds entries of older and newer versions, and none of them breaks a command. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsIn(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsIn) : [];
}

export function textIn(value: unknown): string {
  return findText(value) ?? '';
}

export function findText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

export function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
