import type { SQLOutputValue } from 'node:sqlite';

type Row = Record<string, SQLOutputValue> | undefined;

/** Reads a column of a STRICT table. Another type than the column's own means that the file is damaged. */
export function requireBytesColumn(row: Row, column: string): Uint8Array {
  const value = row?.[column];
  if (value instanceof Uint8Array) return value;
  throw new Error(`the column ${column} does not hold bytes`);
}

export function requireNumberColumn(row: Row, column: string): number {
  const value = row?.[column];
  if (typeof value === 'number') return value;
  throw new Error(`the column ${column} does not hold a number`);
}

export function requireTextColumn(row: Row, column: string): string {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw new Error(`the column ${column} does not hold text`);
}
