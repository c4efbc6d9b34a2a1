import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { GENESIS } from '../format/chain.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { Head, Range, Snapshot, StoredBlob, StoredCheckpoint, StoredEntry } from '../store.ts';
import type { LockWait } from './lock-wait.ts';

/** Every read that a ledger needs, prepared once. */
export class SqliteReader {
  readonly #wait: LockWait;
  readonly #head: StatementSync;
  readonly #entries: StatementSync;
  readonly #hashes: StatementSync;
  readonly #tiles: StatementSync;
  readonly #checkpoint: StatementSync;
  readonly #blobs: StatementSync;

  /** Reads in batches wait for a lock; the others throw, and their callers wait. */
  constructor(db: DatabaseSync, wait: LockWait) {
    this.#wait = wait;
    this.#head = db.prepare('SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1');
    this.#entries = db.prepare(
      'SELECT seq, hash, note, bytes FROM entry WHERE seq >= ? AND seq <= ? ORDER BY seq LIMIT ?',
    );
    this.#hashes = db.prepare('SELECT seq, hash FROM entry WHERE seq >= ? AND seq <= ? ORDER BY seq LIMIT ?');
    this.#tiles = db.prepare(
      'SELECT hash FROM tile WHERE level = ? AND "index" >= ? AND "index" <= ? ORDER BY "index"',
    );
    // Every commit ends with a note, so this never goes back further than one commit is long.
    this.#checkpoint = db.prepare(
      'SELECT seq, note FROM entry WHERE note IS NOT NULL AND seq <= ? ORDER BY seq DESC LIMIT 1',
    );
    this.#blobs = db.prepare('SELECT hash, bytes FROM blob WHERE hash > ? ORDER BY hash LIMIT 1');
  }

  head(): Head {
    const row = this.#head.get();
    return row ? { size: requireNumberColumn(row, 'seq'), hash: requireBytesColumn(row, 'hash') } : GENESIS;
  }

  /** Each batch is a query of its own: a slow reader never holds an old state of the file, which would let the WAL grow. */
  async *entries({ from, to = Number.MAX_SAFE_INTEGER }: Range): AsyncGenerator<readonly StoredEntry[]> {
    for (let next = from; ;) {
      const rows = await this.#wait.run(() => this.#entries.all(next, to, LEDGER_LIMITS.entriesPerBatch));
      const batch = rows.map((row) => ({
        seq: requireNumberColumn(row, 'seq'),
        hash: requireBytesColumn(row, 'hash'),
        bytes: requireBytesColumn(row, 'bytes'),
        note: row['note'] === null ? undefined : requireTextColumn(row, 'note'),
      }));
      const last = batch.at(-1);
      if (!last) return;
      yield batch;
      next = last.seq + 1;
    }
  }

  async *hashes({ from, to = Number.MAX_SAFE_INTEGER }: Range): AsyncGenerator<readonly Uint8Array[]> {
    for (let next = from; ;) {
      const rows = await this.#wait.run(() => this.#hashes.all(next, to, LEDGER_LIMITS.hashesPerBatch));
      const last = rows.at(-1);
      if (!last) return;
      yield rows.map((row) => requireBytesColumn(row, 'hash'));
      next = requireNumberColumn(last, 'seq') + 1;
    }
  }

  tiles(level: number, { from, to = Number.MAX_SAFE_INTEGER }: Range): readonly Uint8Array[] {
    return this.#tiles.all(level, from, to).map((row) => requireBytesColumn(row, 'hash'));
  }

  findCheckpoint(size = Number.MAX_SAFE_INTEGER): StoredCheckpoint | undefined {
    const row = this.#checkpoint.get(size);
    return row && { size: requireNumberColumn(row, 'seq'), note: requireTextColumn(row, 'note') };
  }

  async *blobs(): AsyncGenerator<readonly StoredBlob[]> {
    for (let after: Uint8Array = new Uint8Array(0); ;) {
      const last = after;
      const row = await this.#wait.run(() => this.#blobs.get(last));
      if (!row) return;
      const hash = requireBytesColumn(row, 'hash');
      yield [{ hash, bytes: requireBytesColumn(row, 'bytes') }];
      after = hash;
    }
  }
}

/** What is kept beside the entries: blobs, once each, and the newest snapshot of each name. */
export class BlobAndSnapshotTables {
  readonly #db: DatabaseSync;
  readonly #findBlob: StatementSync;
  readonly #findSnapshot: StatementSync;
  readonly #names: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#findBlob = db.prepare('SELECT bytes FROM blob WHERE hash = ?');
    this.#findSnapshot = db.prepare('SELECT size, hash, bytes FROM snapshot WHERE name = ?');
    this.#names = db.prepare('SELECT name FROM snapshot ORDER BY name');
  }

  putBlob(hash: Uint8Array, bytes: Uint8Array): void {
    this.#db.prepare('INSERT INTO blob (hash, bytes) VALUES (?, ?)').run(hash, bytes);
  }

  findBlob(hash: Uint8Array): Uint8Array | undefined {
    const row = this.#findBlob.get(hash);
    return row && requireBytesColumn(row, 'bytes');
  }

  saveSnapshot(name: string, { size, hash, bytes }: Snapshot): void {
    this.#db
      .prepare(
        `INSERT INTO snapshot (name, size, hash, bytes) VALUES (?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET size = excluded.size, hash = excluded.hash, bytes = excluded.bytes`,
      )
      .run(name, size, hash, bytes);
  }

  findSnapshot(name: string): Snapshot | undefined {
    const row = this.#findSnapshot.get(name);
    return (
      row && {
        size: requireNumberColumn(row, 'size'),
        hash: requireBytesColumn(row, 'hash'),
        bytes: requireBytesColumn(row, 'bytes'),
      }
    );
  }

  dropSnapshot(name: string): void {
    this.#db.prepare('DELETE FROM snapshot WHERE name = ?').run(name);
  }

  snapshotNames(): readonly string[] {
    return this.#names.all().map((row) => requireTextColumn(row, 'name'));
  }
}

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
