import { randomUUID } from 'node:crypto';
import { GENESIS } from '../format/chain.ts';
import type { Appended, Commit, Head } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresProblem } from './problems.ts';
import { encodeTextArray, type Parameter, sql, type Statement, toBuffer } from './statement.ts';

/** Appends in one round trip. Sends the commit again after a lost connection; the database recognises its id. */
export async function appendToPostgres(
  connection: PostgresConnection,
  project: number,
  commit: Commit,
): Promise<Appended> {
  requireNumbered(commit);
  const commitId = randomUUID();
  try {
    const [row] = await connection.query(statementFor(commit), parametersOf(project, commit, commitId));
    const conflict = row?.['conflict'];
    return typeof conflict === 'string'
      ? { ok: false, conflict: parseHead(conflict) }
      : { ok: true, head: headAfter(commit) };
  } catch (error) {
    if (error instanceof PostgresProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

const APPEND = sql('append')`SELECT baton.append($1, $2, $3, $4, $5, $6, $7) AS conflict`;
/** Most commits complete no tile; their statement has three parameters fewer. */
const APPEND_WITH_TILES = sql(
  'append_with_tiles',
)`SELECT baton.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS conflict`;

/** Copies several commits of another store at once, with the note of each. */
const APPEND_COPY = sql('append_copy')`SELECT baton.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS conflict`;

function isCopy({ entries, checkpoint }: Commit): boolean {
  return entries.some(({ seq, note }) => note !== undefined && seq !== checkpoint.size);
}

function statementFor(commit: Commit): Statement {
  if (isCopy(commit)) return APPEND_COPY;
  return commit.tiles.length === 0 ? APPEND : APPEND_WITH_TILES;
}

function parametersOf(project: number, commit: Commit, commitId: string): Parameter[] {
  const { after, entries, tiles, checkpoint } = commit;
  const parameters = [
    project,
    after.size,
    toBuffer(after.hash),
    commitId,
    encodeByteaArray(entries.map(({ hash }) => hash)),
    encodeByteaArray(entries.map(({ bytes }) => bytes)),
    checkpoint.note,
  ];
  if (!isCopy(commit)) return tiles.length === 0 ? parameters : [...parameters, ...tileParametersOf(commit)];
  return [...parameters, ...tileParametersOf(commit), encodeTextArray(entries.map(({ note }) => note ?? null))];
}

function tileParametersOf({ tiles }: Commit): Parameter[] {
  const levels = `{${tiles.map(({ level }) => level).join()}}`;
  const indexes = `{${tiles.map(({ index }) => index).join()}}`;
  return [levels, indexes, encodeByteaArray(tiles.map(({ hash }) => hash))];
}

/** Asserts that the given numbers continue from the head, because the database numbers the entries itself. */
function requireNumbered({ after, entries, checkpoint }: Commit): void {
  for (const [index, { seq }] of entries.entries()) {
    if (seq !== after.size + 1 + index) throw new RangeError(`Entry ${seq} does not follow ${after.size + index}.`);
  }
  if (checkpoint.size !== after.size + entries.length) {
    throw new RangeError(`The checkpoint covers ${checkpoint.size} entries, the commit ends at another.`);
  }
}

function headAfter({ entries }: Commit): Head {
  const last = entries.at(-1) ?? entries[0];
  return { size: last.seq, hash: last.hash };
}

function parseHead(text: string): Head {
  const [size = '', hash = ''] = text.split(' ');
  return size === '0' ? GENESIS : { size: Number(size), hash: Buffer.from(hash, 'hex') };
}

const BYTEA_OID = 17;
const HEADER_BYTES = 20;

/** A binary `bytea[]`: the driver would send hexadecimal text, which costs the server more than the insert. */
export function encodeByteaArray(elements: readonly Uint8Array[]): Buffer {
  // An empty array has no dimensions, so neither a length nor a lower bound.
  const isEmpty = elements.length === 0;
  const start = isEmpty ? 12 : HEADER_BYTES;
  const array = Buffer.allocUnsafe(elements.reduce((sum, element) => sum + 4 + element.byteLength, start));
  array.writeInt32BE(isEmpty ? 0 : 1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(BYTEA_OID, 8);
  if (isEmpty) return array;
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16);
  let offset = HEADER_BYTES;
  for (const element of elements) {
    offset = array.writeInt32BE(element.byteLength, offset);
    array.set(element, offset);
    offset += element.byteLength;
  }
  return array;
}
