import { GENESIS } from '../format/chain.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { Head, Range, Snapshot, StoredBlob, StoredCheckpoint, StoredEntry } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { requireBytes, requireNumber, requireText, type Row, type Statement, toBuffer } from './statement.ts';

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

/** A blob that is already there stays as it is: its name is the hash of its bytes. */
export async function insertBlob(
  connection: PostgresConnection,
  project: number,
  hash: Uint8Array,
  bytes: Uint8Array,
): Promise<void> {
  await connection.query(PUT_BLOB, [project, toBuffer(hash), toBuffer(bytes)]);
}

export async function selectBlob(
  connection: PostgresConnection,
  project: number,
  hash: Uint8Array,
): Promise<Uint8Array | undefined> {
  const [row] = await connection.query(FIND_BLOB, [project, toBuffer(hash)]);
  return row && requireBytes(row, 'bytes');
}

/** Whoever comes last wins: one that does not fit the ledger any more must make way for a smaller one. */
export async function upsertSnapshot(
  connection: PostgresConnection,
  project: number,
  name: string,
  { size, hash, bytes }: Snapshot,
): Promise<void> {
  await connection.query(SAVE_SNAPSHOT, [project, name, size, toBuffer(hash), toBuffer(bytes)]);
}

export async function selectSnapshot(
  connection: PostgresConnection,
  project: number,
  name: string,
): Promise<Snapshot | undefined> {
  const [row] = await connection.query(FIND_SNAPSHOT, [project, name]);
  return (
    row && {
      size: requireNumber(row, 'size'),
      hash: requireBytes(row, 'hash'),
      bytes: requireBytes(row, 'bytes'),
    }
  );
}

export async function deleteSnapshot(connection: PostgresConnection, project: number, name: string): Promise<void> {
  await connection.query(DROP_SNAPSHOT, [project, name]);
}

export async function selectSnapshotNames(connection: PostgresConnection, project: number): Promise<readonly string[]> {
  const rows = await connection.query(SNAPSHOT_NAMES, [project]);
  return rows.map((row) => requireText(row, 'name'));
}

const PUT_BLOB = {
  name: 'put_blob',
  text: `INSERT INTO baton.blob (project, hash, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
};

const FIND_BLOB = {
  name: 'find_blob',
  text: 'SELECT bytes FROM baton.blob WHERE project = $1 AND hash = $2',
};

const SAVE_SNAPSHOT = {
  name: 'save_snapshot',
  text: `
    INSERT INTO baton.snapshot (project, name, size, hash, bytes) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (project, name) DO UPDATE SET size = excluded.size, hash = excluded.hash, bytes = excluded.bytes`,
};

const FIND_SNAPSHOT = {
  name: 'find_snapshot',
  text: 'SELECT size, hash, bytes FROM baton.snapshot WHERE project = $1 AND name = $2',
};

const DROP_SNAPSHOT = {
  name: 'drop_snapshot',
  text: 'DELETE FROM baton.snapshot WHERE project = $1 AND name = $2',
};

const SNAPSHOT_NAMES = {
  name: 'snapshot_names',
  text: 'SELECT name FROM baton.snapshot WHERE project = $1 ORDER BY name',
};

/** What nobody who reads entries would notice: guards that are gone, and rows outside of the numbering. */
export async function findPostgresFaults(connection: PostgresConnection, project: number): Promise<readonly string[]> {
  const rows = await connection.query(INSPECT, [project]);
  return rows.map((row) => requireText(row, 'finding'));
}

// `tgenabled` is A for a trigger that fires always, the session's role notwithstanding.
const INSPECT: Statement = {
  name: 'inspect',
  isSlow: true,
  text: `
    WITH tip AS (
      SELECT count(*) AS rows, min(seq) AS lowest, max(seq) AS highest FROM baton.entry WHERE project = $1
    )
    SELECT format('the trigger append_only on baton.%s is missing or switched off', tab) AS finding
      FROM unnest('{project,entry,tile,blob}'::text[]) AS tab
      WHERE NOT EXISTS (
        SELECT FROM pg_trigger t
        WHERE t.tgrelid = to_regclass('baton.' || tab) AND t.tgname = 'append_only' AND t.tgenabled = 'A'
          AND t.tgfoid = to_regproc('baton.refuse'))
    UNION ALL
    SELECT format('there are %s entries, numbered from %s to %s', rows, lowest, highest)
      FROM tip WHERE rows > 0 AND (lowest <> 1 OR highest <> rows)
    UNION ALL
    SELECT format('there is a tile at level %s, number %s, which belongs to no entries', x.level, x.index)
      FROM baton.tile x, tip t
      WHERE x.project = $1
        AND (x.level NOT IN (8, 16, 24, 32, 40, 48) OR x.index < 0
          OR (x.index + 1)::numeric * power(2::numeric, x.level) > coalesce(t.highest, 0))`,
};
