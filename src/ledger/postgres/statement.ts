import { Query } from 'pg';

export type Row = Readonly<Record<string, number | string | boolean | Buffer | null>>;
/** Bytes are sent as a Buffer, in binary format. */
export type Parameter = number | string | Buffer | null;

/** The server parses a named statement once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The statement may run for minutes on a large ledger, so silence does not mean that the connection is lost. */
  readonly isSlow?: true;
  /** The statement may wait as long as the set-up of a session takes. */
  readonly waitsForSetUp?: true;
}

export interface QueryResult {
  readonly rows: readonly Row[];
  readonly count: number;
}

export function sql(name: string) {
  return (parts: TemplateStringsArray, ...values: (number | string)[]): Statement => ({
    name,
    text: String.raw(parts, ...values),
  });
}

/** Creates the driver's query from text and name, because the driver would copy a config object field by field. */
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

/** A view of the same memory, which the driver sends in binary format; it would send a plain Uint8Array as text. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const TYPES = { bool: 16, bytea: 17, int8: 20, int4: 23 } as const;

// The driver's parsers return 64-bit integers as text; sequence numbers stay far below 2^53.
export const PARSERS = {
  getTypeParser: (type: number) => {
    if (type === TYPES.int8 || type === TYPES.int4) return Number;
    if (type === TYPES.bool) return (text: string) => text === 't';
    if (type === TYPES.bytea) return (text: string) => Buffer.from(text.slice(2), 'hex');
    return String;
  },
};

/** An array of texts as a parameter. */
export function encodeTextArray(texts: readonly (string | null)[]): string {
  const items = texts.map((text) => (text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`));
  return `{${items.join()}}`;
}
