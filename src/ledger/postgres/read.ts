import { GENESIS } from '../format/chain.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { Head, Range, StoredBlob, StoredCheckpoint, StoredEntry } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { requireBytes, requireNumber, requireText, type Row, type Statement } from './statement.ts';

/** Everything is read in batches by key, never with a cursor: a reader that pauses keeps nothing open on the server. */
export async function selectHead(connection: PostgresConnection, project: number): Promise<Head> {
  const [row] = await connection.query(HEAD, [project]);
  return row ? { size: requireNumber(row, 'seq'), hash: requireBytes(row, 'hash') } : GENESIS;
}

export async function* selectEntries(
  connection: PostgresConnection,
  project: number,
  range: Range,
): AsyncGenerator<readonly StoredEntry[]> {
  for await (const rows of readBySeq(connection, ENTRIES, project, range)) {
    yield rows.map((row) => ({
      seq: requireNumber(row, 'seq'),
      hash: requireBytes(row, 'hash'),
      bytes: requireBytes(row, 'bytes'),
      note: row['note'] === null ? undefined : requireText(row, 'note'),
    }));
  }
}

export async function* selectHashes(
  connection: PostgresConnection,
  project: number,
  range: Range,
): AsyncGenerator<readonly Uint8Array[]> {
  for await (const rows of readBySeq(connection, HASHES, project, range)) {
    yield rows.map((row) => requireBytes(row, 'hash'));
  }
}

export async function selectTiles(
  connection: PostgresConnection,
  project: number,
  level: number,
  { from, to }: Range,
): Promise<readonly Uint8Array[]> {
  const rows = await connection.query(TILES, [project, level, from, to ?? HIGHEST]);
  return rows.map((row) => requireBytes(row, 'hash'));
}

export async function selectCheckpoint(
  connection: PostgresConnection,
  project: number,
  size?: number,
): Promise<StoredCheckpoint | undefined> {
  const [row] = await connection.query(CHECKPOINT, [project, size ?? HIGHEST]);
  return row && { size: requireNumber(row, 'seq'), note: requireText(row, 'note') };
}

export async function* selectBlobs(
  connection: PostgresConnection,
  project: number,
): AsyncGenerator<readonly StoredBlob[]> {
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const [row] = await connection.query(NEXT_BLOB, [project, after]);
    if (row === undefined) return;
    after = requireBytes(row, 'hash');
    yield [{ hash: after, bytes: requireBytes(row, 'bytes') }];
  }
}

/** The next batch is asked for while the reader works on this one, so that neither waits for the other. */
async function* readBySeq(
  connection: PostgresConnection,
  statement: Statement,
  project: number,
  { from, to = HIGHEST }: { from: Bound; to?: Bound },
): AsyncGenerator<readonly Row[]> {
  const ask = (first: Bound): Promise<readonly Row[]> => {
    const answer = connection.query(statement, [project, first, to]);
    // A reader that stops early never awaits the batch that was asked for ahead.
    answer.catch(() => undefined);
    return answer;
  };
  let next: Promise<readonly Row[]> | undefined = ask(from);
  while (next !== undefined) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    const seq = requireNumber(last, 'seq');
    next = seq === to ? undefined : ask(seq + 1);
    yield rows;
  }
}

/** Numbers beyond 2^53 travel as text; this is the end of a `bigint`. */
type Bound = number | string;
const HIGHEST = '9223372036854775807';

const HEAD = {
  name: 'head',
  text: 'SELECT seq, hash FROM baton.entry WHERE project = $1 ORDER BY seq DESC LIMIT 1',
};

// The limits stand in the text, not in a parameter: the plan that the server keeps then goes along the index. A batch
// of entries also ends where it has as many bytes as a commit may have.
const ENTRIES = {
  name: 'entries',
  text: `
    SELECT seq, hash, note, bytes FROM (
      SELECT seq, hash, note, bytes, sum(octet_length(bytes)) OVER (ORDER BY seq) - octet_length(bytes) AS before
      FROM (
        SELECT seq, hash, note, bytes FROM baton.entry WHERE project = $1 AND seq >= $2 AND seq <= $3
        ORDER BY seq LIMIT ${LEDGER_LIMITS.entriesPerBatch}
      ) AS page
    ) AS counted WHERE before < ${LEDGER_LIMITS.bytesPerCommit} ORDER BY seq`,
};

const HASHES = {
  name: 'hashes',
  text: `
    SELECT seq, hash FROM baton.entry WHERE project = $1 AND seq >= $2 AND seq <= $3
    ORDER BY seq LIMIT ${LEDGER_LIMITS.hashesPerBatch}`,
};

const TILES = {
  name: 'tiles',
  text: `
    SELECT hash FROM baton.tile WHERE project = $1 AND level = $2 AND index >= $3 AND index <= $4
    ORDER BY index`,
};

// Every commit ends with a note, so this never goes back further than one commit is long.
const CHECKPOINT = {
  name: 'checkpoint',
  text: `
    SELECT seq, note FROM baton.entry WHERE project = $1 AND seq <= $2 AND note IS NOT NULL
    ORDER BY seq DESC LIMIT 1`,
};

const NEXT_BLOB = {
  name: 'next_blob',
  text: 'SELECT hash, bytes FROM baton.blob WHERE project = $1 AND hash > $2 ORDER BY hash LIMIT 1',
};
