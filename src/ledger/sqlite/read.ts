import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { GENESIS } from '../format/chain.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import type { Head, Range, StoredBlob, StoredCheckpoint, StoredEntry } from '../store.ts';
import type { LockWait } from './lock-wait.ts';
import { requireBytesColumn, requireNumberColumn, requireTextColumn } from './row.ts';

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
