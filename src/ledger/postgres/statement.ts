import { Query } from 'pg';

/** What a column of an answer can be: the types that the ledger's tables are made of. */
export type ColumnValue = number | string | boolean | Buffer | null;
export type Row = Readonly<Record<string, ColumnValue>>;

/** Bytes travel as a Buffer, in binary form. */
export type Parameter = number | string | Buffer | null;

/** A statement with a name is parsed by the server once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** May take as long as the ledger is large, so silence does not mean that the connection is lost. */
  readonly isSlow?: true;
}

/** What the server said: rows of a SELECT, or how many rows an INSERT made. */
export interface QueryResult {
  readonly rows: readonly Row[];
  readonly count: number;
}

/**
 * The statement as the driver sends it, which calls back once. Made from a text and a name: an object with both would be
 * copied field by field, which costs as much as everything else that the driver does.
 */
export function createQuery(
  { name, text }: Statement,
  values: readonly Parameter[],
  onAnswer: (error: Error | undefined, answer: QueryResult) => void,
): Query {
  const query = new Query<Row>(text, [...values], (error, result) =>
    onAnswer(error, { rows: result?.rows ?? [], count: result?.rowCount ?? 0 }),
  );
  return Object.assign(query, { name: `baton_${name}` });
}

/** What a column must be. A mismatch is a mistake in a statement, not something that can happen in operation. */
export function requireNumber(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`Column ${column} is not a number.`);
  return value;
}

export function requireText(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`Column ${column} is not text.`);
  return value;
}

export function requireBytes(row: Row, column: string): Buffer {
  const value = row[column];
  if (!Buffer.isBuffer(value)) throw new TypeError(`Column ${column} is not bytes.`);
  return value;
}

/** A view of the same memory that the driver sends in binary form; a plain Uint8Array it would turn into text. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const TYPES = { bool: 16, bytea: 17, int8: 20, int4: 23 } as const;

// The driver's own parsers make text of 64-bit integers; sequence numbers stay far below 2^53.
export const PARSERS = {
  getTypeParser: (type: number) => {
    if (type === TYPES.int8 || type === TYPES.int4) return Number;
    if (type === TYPES.bool) return (text: string) => text === 't';
    if (type === TYPES.bytea) return (text: string) => Buffer.from(text.slice(2), 'hex');
    return String;
  },
};
