import { GENESIS } from './format/chain.ts';
import type { Head, Snapshot, StoredCheckpoint, StoredEntry } from './store.ts';

export type StoredRow = Readonly<Record<string, unknown>>;

/**
 * Each reads a column of the declared type, and throws for another type: the file is damaged or a statement is wrong.
 */
export function requireNumber(row: StoredRow | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value === 'number') return value;
  throw new TypeError(`the column ${column} does not hold a number`);
}

export function requireText(row: StoredRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw new TypeError(`the column ${column} does not hold text`);
}

export function requireBytes(row: StoredRow | undefined, column: string): Uint8Array {
  const value = row?.[column];
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`the column ${column} does not hold bytes`);
}

export function storedEntry(row: StoredRow): StoredEntry {
  const note = row['note'] === null ? undefined : requireText(row, 'note');
  return { seq: requireNumber(row, 'seq'), hash: requireBytes(row, 'hash'), bytes: requireBytes(row, 'bytes'), note };
}

export function storedHead(row: StoredRow | undefined): Head {
  return row ? { size: requireNumber(row, 'seq'), hash: requireBytes(row, 'hash') } : GENESIS;
}

export function storedCheckpoint(row: StoredRow | undefined): StoredCheckpoint | undefined {
  return row && { size: requireNumber(row, 'seq'), note: requireText(row, 'note') };
}

export function storedSnapshot(row: StoredRow | undefined): Snapshot | undefined {
  return (
    row && { size: requireNumber(row, 'size'), hash: requireBytes(row, 'hash'), bytes: requireBytes(row, 'bytes') }
  );
}
