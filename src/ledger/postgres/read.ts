import {
  requireBytes,
  requireNumber,
  requireText,
  storedCheckpoint,
  storedEntry,
  storedHead,
  storedSnapshot,
} from '../columns.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import { type Head, newerThan, type Store } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { type Row, sql, type Statement, toBuffer } from './statement.ts';

export async function selectHead(connection: PostgresConnection, project: number): Promise<Head> {
  const [row] = await connection.query(HEAD, [project]);
  return storedHead(row);
}

type ProjectTables = Omit<Store, 'kind' | 'head' | 'append' | 'watch' | 'health' | 'probe' | 'close'>;

/**
 * The tables of one project. Reads in batches by key, without cursors: a paused reader keeps nothing open on the
 * server.
 */
export function makeProjectTables(
  project: number,
  { reader, writer, slow }: Readonly<Record<'reader' | 'writer' | 'slow', PostgresConnection>>,
): ProjectTables {
  return {
    async newer(head) {
      const rows = await reader.query(NEWER, [project, head.size]);
      const found = rows.length === 0 ? 0 : requireNumber(rows[0], 'found');
      const isAll = rows.length === found && found <= LEDGER_LIMITS.entriesPerBatch;
      return newerThan(head, rows.map(storedEntry), isAll);
    },
    async *entries(range) {
      for await (const rows of readBySeq(reader, ENTRIES, project, range)) yield rows.map(storedEntry);
    },
    async *hashes(range) {
      for await (const rows of readBySeq(reader, HASHES, project, range)) {
        yield rows.map((row) => requireBytes(row, 'hash'));
      }
    },
    async tiles(level, { from, to }) {
      const rows = await reader.query(TILES, [project, level, from, to ?? HIGHEST]);
      return rows.map((row) => requireBytes(row, 'hash'));
    },
    async findCheckpoint(size) {
      const [row] = await reader.query(CHECKPOINT, [project, size ?? HIGHEST]);
      return storedCheckpoint(row);
    },
    /**
     * Uses the durable session: if a recorded entry names a blob, the blob must survive a crash. Existing blobs stay.
     */
    async putBlob(hash, bytes) {
      await writer.query(PUT_BLOB, [project, toBuffer(hash), toBuffer(bytes)]);
    },
    async findBlob(hash) {
      const [row] = await reader.query(FIND_BLOB, [project, toBuffer(hash)]);
      return row && requireBytes(row, 'bytes');
    },
    async *blobs() {
      for (let after: Uint8Array = new Uint8Array(0); ;) {
        const [row] = await reader.query(NEXT_BLOB, [project, toBuffer(after)]);
        if (row === undefined) return;
        after = requireBytes(row, 'hash');
        yield [{ hash: after, bytes: requireBytes(row, 'bytes') }];
      }
    },
    /** The last write wins: a snapshot beyond the ledger's end must be replaceable by a smaller one. */
    async saveSnapshot(name, { size, hash, bytes }) {
      await reader.query(SAVE_SNAPSHOT, [project, name, size, toBuffer(hash), toBuffer(bytes)]);
    },
    async findSnapshot(name) {
      const [row] = await reader.query(FIND_SNAPSHOT, [project, name]);
      return storedSnapshot(row);
    },
    async dropSnapshot(name) {
      await reader.query(DROP_SNAPSHOT, [project, name]);
    },
    async snapshotNames() {
      const rows = await reader.query(SNAPSHOT_NAMES, [project]);
      return rows.map((row) => requireText(row, 'name'));
    },
    async inspect() {
      const rows = await slow.query(INSPECT, [project]);
      return rows.map((row) => requireText(row, 'finding'));
    },
  };
}

/** Requests the next batch while the caller processes this one. */
async function* readBySeq(
  connection: PostgresConnection,
  statement: Statement,
  project: number,
  { from, to = HIGHEST }: { from: Bound; to?: Bound },
): AsyncGenerator<readonly Row[]> {
  const ask = (first: Bound): Promise<readonly Row[]> => {
    const answer = connection.query(statement, [project, first, to]);
    // A caller that stops early never awaits the batch requested ahead.
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

/** Numbers beyond 2^53 are sent as text; this is the largest `bigint`. */
type Bound = number | string;
const HIGHEST = '9223372036854775807';
const HEAD = sql('head')`SELECT seq, hash FROM baton.entry WHERE project = $1 ORDER BY seq DESC LIMIT 1`;

const ENTRIES = sql('entries')`
  SELECT seq, hash, note, bytes FROM (
    SELECT seq, hash, note, bytes, sum(octet_length(bytes)) OVER (ORDER BY seq) - octet_length(bytes) AS before
    FROM (
      SELECT seq, hash, note, bytes FROM baton.entry WHERE project = $1 AND seq >= $2 AND seq <= $3
      ORDER BY seq LIMIT ${LEDGER_LIMITS.entriesPerBatch}
    ) AS page
  ) AS counted WHERE before < ${LEDGER_LIMITS.bytesPerCommit} ORDER BY seq`;

/** Starts with the entry of the head, and counts the rows of the page before its bytes are limited. */
const NEWER = sql('newer')`
  SELECT seq, hash, note, bytes, found FROM (
    SELECT seq, hash, note, bytes, count(*) OVER () AS found,
      sum(octet_length(bytes)) OVER (ORDER BY seq) - octet_length(bytes) AS before
    FROM (
      SELECT seq, hash, note, bytes FROM baton.entry WHERE project = $1 AND seq >= $2
      ORDER BY seq LIMIT ${LEDGER_LIMITS.entriesPerBatch + 1}
    ) AS page
  ) AS counted WHERE before < ${LEDGER_LIMITS.bytesPerCommit} ORDER BY seq`;

const HASHES = sql('hashes')`
  SELECT seq, hash FROM baton.entry WHERE project = $1 AND seq >= $2 AND seq <= $3
  ORDER BY seq LIMIT ${LEDGER_LIMITS.hashesPerBatch}`;

const TILES = sql('tiles')`
  SELECT hash FROM baton.tile WHERE project = $1 AND level = $2 AND index >= $3 AND index <= $4
  ORDER BY index`;

const CHECKPOINT = sql('checkpoint')`
  SELECT seq, note FROM baton.entry WHERE project = $1 AND seq <= $2 AND note IS NOT NULL
  ORDER BY seq DESC LIMIT 1`;

const NEXT_BLOB = sql('next_blob')`
  SELECT hash, bytes FROM baton.blob WHERE project = $1 AND hash > $2 ORDER BY hash LIMIT 1`;
const PUT_BLOB = sql('put_blob')`SELECT baton.put_blob($1, $2, $3)`;
const FIND_BLOB = sql('find_blob')`SELECT bytes FROM baton.blob WHERE project = $1 AND hash = $2`;

const SAVE_SNAPSHOT = sql('save_snapshot')`
  INSERT INTO baton.snapshot (project, name, size, hash, bytes) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (project, name) DO UPDATE SET size = excluded.size, hash = excluded.hash, bytes = excluded.bytes`;

const FIND_SNAPSHOT = sql('find_snapshot')`
  SELECT size, hash, bytes FROM baton.snapshot WHERE project = $1 AND name = $2`;
const DROP_SNAPSHOT = sql('drop_snapshot')`DELETE FROM baton.snapshot WHERE project = $1 AND name = $2`;
const SNAPSHOT_NAMES = sql('snapshot_names')`SELECT name FROM baton.snapshot WHERE project = $1 ORDER BY name`;

// `tgenabled` is A for a trigger that fires regardless of the session's role.
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
