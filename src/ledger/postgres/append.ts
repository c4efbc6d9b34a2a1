import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg';
import { GENESIS } from '../format/chain.ts';
import type { Appended, Commit, Head } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresProblem } from './problems.ts';
import { selectHead } from './read.ts';
import { encodeTextArray, type Parameter, sql, toBuffer } from './statement.ts';

/** Appends in one round trip. Sends the commit again after a lost connection; the database recognises its id. */
export async function appendToPostgres(
  connection: PostgresConnection,
  project: number,
  commit: Commit,
): Promise<Appended> {
  requireNumbered(commit);
  const commitId = randomUUID();
  try {
    if (commit.entries.some(({ seq, note }) => note !== undefined && seq !== commit.checkpoint.size))
      return await appendCopy(connection, project, commit, commitId);
    if (await appendOne(connection, project, commit, commitId)) return { ok: true, head: headAfter(commit) };
    const statement = commit.tiles.length === 0 ? APPEND : APPEND_WITH_TILES;
    const [row] = await connection.query(statement, parametersOf(project, commit, commitId));
    const conflict = row?.['conflict'];
    return typeof conflict === 'string'
      ? { ok: false, conflict: parseHead(conflict) }
      : { ok: true, head: headAfter(commit) };
  } catch (error) {
    if (error instanceof PostgresProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

/**
 * Appends one entry with a plain INSERT, which costs a third less than the function. Returns false on a conflict, a
 * repeat or a commit that is not durable; the caller then calls the function, which reports the reason.
 */
async function appendOne(
  connection: PostgresConnection,
  project: number,
  commit: Commit,
  commitId: string,
): Promise<boolean> {
  const { after, entries, tiles, checkpoint } = commit;
  const [{ hash, bytes }] = entries;
  if (entries.length > 1 || tiles.length > 0 || after.size === 0) return false;
  const hashes = [toBuffer(after.hash), toBuffer(hash)];
  const values = [project, after.size, ...hashes, checkpoint.note, commitId, toBuffer(bytes)];
  return (await connection.insert(APPEND_ONE, values)) === 1;
}

export const APPEND_ONE = sql('append_one')`
    INSERT INTO baton.entry (project, seq, hash, note, commit_id, bytes)
      SELECT $1, $2::bigint + 1, $4, $5, $6::uuid, $7
      WHERE current_setting('synchronous_commit') IN ('on', 'remote_apply')
        AND EXISTS (SELECT FROM baton.entry e WHERE e.project = $1 AND e.seq = $2 AND e.hash = $3)
      ON CONFLICT DO NOTHING`;

const APPEND = sql('append')`SELECT baton.append($1, $2, $3, $4, $5, $6, $7) AS conflict`;
/** Most commits complete no tile; their statement has three parameters fewer. */
const APPEND_WITH_TILES = sql(
  'append_with_tiles',
)`SELECT baton.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS conflict`;

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
  return tiles.length === 0 ? parameters : [...parameters, ...tileParametersOf(commit)];
}

function tileParametersOf({ tiles }: Commit): Parameter[] {
  const levels = `{${tiles.map(({ level }) => level).join()}}`;
  const indexes = `{${tiles.map(({ index }) => index).join()}}`;
  return [levels, indexes, encodeByteaArray(tiles.map(({ hash }) => hash))];
}

/** Copies several commits of another store. Interleaved entries of another writer violate the primary key. */
async function appendCopy(
  connection: PostgresConnection,
  project: number,
  commit: Commit,
  commitId: string,
): Promise<Appended> {
  const { after, entries, checkpoint } = commit;
  const notes = entries.map(({ seq, note }) => (seq === checkpoint.size ? checkpoint.note : (note ?? null)));
  const values = [...parametersOf(project, { ...commit, tiles: [] }, commitId).slice(0, -1), encodeTextArray(notes)];
  const inserted = await connection
    .insert(APPEND_COPY, [...values, ...tileParametersOf(commit)])
    .catch((error: unknown) => (isDuplicate(error) ? 0 : Promise.reject(error)));
  if (inserted > 0) return { ok: true, head: headAfter(commit) };
  // If the connection was lost after the copy was recorded, the statement was sent twice.
  const own = await connection.query(FIND_COMMIT, [project, after.size + entries.length, commitId]);
  return own.length > 0
    ? { ok: true, head: headAfter(commit) }
    : { ok: false, conflict: await selectHead(connection, project) };
}

function isDuplicate(error: unknown): boolean {
  return error instanceof PostgresProblem && error.cause instanceof DatabaseError && error.cause.code === '23505';
}

/** One statement, so one transaction, which is synced to disk like any other commit. */
const APPEND_COPY = sql('append_copy')`
  WITH durable AS (
    SELECT set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS how
  ), tiles AS (
    INSERT INTO baton.tile (project, level, index, hash)
      SELECT $1, t.level, t.index, t.hash
      FROM unnest($8::integer[], $9::bigint[], $10::bytea[]) AS t (level, index, hash)
  )
  INSERT INTO baton.entry (project, seq, hash, note, commit_id, bytes)
    SELECT $1, $2::bigint + e.n, e.hash, e.note, CASE e.n WHEN cardinality($5::bytea[]) THEN $4::uuid END, e.bytes
    FROM durable, unnest($5::bytea[], $6::bytea[], $7::text[]) WITH ORDINALITY AS e (hash, bytes, note, n)
    WHERE durable.how IS NOT NULL AND ($2 = 0 OR EXISTS (
      SELECT FROM baton.entry h WHERE h.project = $1 AND h.seq = $2 AND h.hash = $3))`;

const FIND_COMMIT = sql('find_commit')`
  SELECT seq FROM baton.entry WHERE project = $1 AND seq = $2 AND commit_id = $3::uuid`;

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
