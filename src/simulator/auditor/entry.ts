/** An entry as the auditor reads it: what was written, and nothing that the kernel thinks about it. */
export interface AuditedEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly cause: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly tasks?: Readonly<Record<string, number>>;
}

export function textOf({ data }: AuditedEntry, field: string): string {
  const value = data[field];
  return typeof value === 'string' ? value : '';
}

export function numberOf({ data }: AuditedEntry, field: string): number {
  const value = data[field];
  return typeof value === 'number' ? value : 0;
}

export function partOf({ data }: AuditedEntry, field: string): Readonly<Record<string, unknown>> {
  const value = data[field];
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function wordOf(part: Readonly<Record<string, unknown>>, field: string): string {
  const value = part[field];
  return typeof value === 'string' ? value : '';
}

export function partsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === 'object' && part !== null) : [];
}
