import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  requireBytes,
  requireNumber,
  requireText,
  storedCheckpoint,
  storedEntry,
  storedHead,
  storedSnapshot,
  type StoredRow,
} from '../columns.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import { type Head, newerThan, type Range } from '../store.ts';
import type { LockWait } from './lock-wait.ts';

export type SqliteReader = ReturnType<typeof makeSqliteReader>;

/** Batch reads wait for a lock; other reads throw, and their callers wait. */
export function makeSqliteReader(db: DatabaseSync, wait: LockWait) {
  const head = db.prepare('SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1');
  const entries = db.prepare(
    'SELECT seq, hash, note, bytes FROM entry WHERE seq >= ? AND seq <= ? ORDER BY seq LIMIT ?',
  );
  const hashes = db.prepare('SELECT seq, hash FROM entry WHERE seq >= ? AND seq <= ? ORDER BY seq LIMIT ?');
  const tiles = db.prepare('SELECT hash FROM tile WHERE level = ? AND "index" >= ? AND "index" <= ? ORDER BY "index"');
  // Every commit ends with a note, so this reads at most one commit backwards.
  const checkpoint = db.prepare(
    'SELECT seq, note FROM entry WHERE note IS NOT NULL AND seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  const blobs = db.prepare('SELECT hash, bytes FROM blob WHERE hash > ? ORDER BY hash LIMIT 1');
  const blob = db.prepare('SELECT bytes FROM blob WHERE hash = ?');
  const snapshot = db.prepare('SELECT size, hash, bytes FROM snapshot WHERE name = ?');
  const snapshotNames = db.prepare('SELECT name FROM snapshot ORDER BY name');

  /**
   * Each batch is a separate query: a slow reader never pins an old version of the file, which would let the WAL grow.
   */
  async function* readBySeq(statement: StatementSync, { from, to = HIGHEST }: Range, limit: number) {
    for (let next = from; ;) {
      const rows: StoredRow[] = await wait.run(() => statement.all(next, to, limit));
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      next = requireNumber(last, 'seq') + 1;
    }
  }

  return {
    head: () => storedHead(head.get()),
    newer(after: Head) {
      const rows = entries.all(after.size, HIGHEST, LEDGER_LIMITS.entriesPerBatch + 1);
      return newerThan(after, rows.map(storedEntry), rows.length <= LEDGER_LIMITS.entriesPerBatch);
    },
    async *entries(range: Range) {
      const batches = readBySeq(entries, range, LEDGER_LIMITS.entriesPerBatch);
      for await (const rows of batches) yield rows.map(storedEntry);
    },
    async *hashes(range: Range) {
      const batches = readBySeq(hashes, range, LEDGER_LIMITS.hashesPerBatch);
      for await (const rows of batches) yield rows.map((row) => requireBytes(row, 'hash'));
    },
    tiles: (level: number, { from, to = HIGHEST }: Range) =>
      tiles.all(level, from, to).map((row) => requireBytes(row, 'hash')),
    findCheckpoint: (size = HIGHEST) => storedCheckpoint(checkpoint.get(size)),
    async *blobs() {
      for (let after: Uint8Array = new Uint8Array(0); ;) {
        const last = after;
        const row = await wait.run(() => blobs.get(last));
        if (!row) return;
        after = requireBytes(row, 'hash');
        yield [{ hash: after, bytes: requireBytes(row, 'bytes') }];
      }
    },
    findBlob(hash: Uint8Array) {
      const row = blob.get(hash);
      return row && requireBytes(row, 'bytes');
    },
    findSnapshot: (name: string) => storedSnapshot(snapshot.get(name)),
    snapshotNames: () => snapshotNames.all().map((row) => requireText(row, 'name')),
  };
}

const HIGHEST = Number.MAX_SAFE_INTEGER;
