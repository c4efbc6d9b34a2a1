import type { DatabaseSync, StatementSync } from 'node:sqlite';
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
import type { Head, Range, Snapshot, StoredBlob, StoredCheckpoint, StoredEntry } from '../store.ts';
import type { LockWait } from './lock-wait.ts';

export class SqliteReader {
  readonly #wait: LockWait;
  readonly #head: StatementSync;
  readonly #entries: StatementSync;
  readonly #hashes: StatementSync;
  readonly #tiles: StatementSync;
  readonly #checkpoint: StatementSync;
  readonly #blobs: StatementSync;
  readonly #blob: StatementSync;
  readonly #snapshot: StatementSync;
  readonly #snapshotNames: StatementSync;

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
    // Every commit ends with a note, so this reads at most one commit backwards.
    this.#checkpoint = db.prepare(
      'SELECT seq, note FROM entry WHERE note IS NOT NULL AND seq <= ? ORDER BY seq DESC LIMIT 1',
    );
    this.#blobs = db.prepare('SELECT hash, bytes FROM blob WHERE hash > ? ORDER BY hash LIMIT 1');
    this.#blob = db.prepare('SELECT bytes FROM blob WHERE hash = ?');
    this.#snapshot = db.prepare('SELECT size, hash, bytes FROM snapshot WHERE name = ?');
    this.#snapshotNames = db.prepare('SELECT name FROM snapshot ORDER BY name');
  }

  head(): Head {
    return storedHead(this.#head.get());
  }

  /** Each batch is a separate query: a slow reader never pins an old version of the file, which would let the WAL grow. */
  async *entries({ from, to = Number.MAX_SAFE_INTEGER }: Range): AsyncGenerator<readonly StoredEntry[]> {
    for (let next = from; ;) {
      const rows = await this.#wait.run(() => this.#entries.all(next, to, LEDGER_LIMITS.entriesPerBatch));
      const batch = rows.map(storedEntry);
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
      yield rows.map((row) => requireBytes(row, 'hash'));
      next = requireNumber(last, 'seq') + 1;
    }
  }

  tiles(level: number, { from, to = Number.MAX_SAFE_INTEGER }: Range): readonly Uint8Array[] {
    return this.#tiles.all(level, from, to).map((row) => requireBytes(row, 'hash'));
  }

  findCheckpoint(size = Number.MAX_SAFE_INTEGER): StoredCheckpoint | undefined {
    return storedCheckpoint(this.#checkpoint.get(size));
  }

  async *blobs(): AsyncGenerator<readonly StoredBlob[]> {
    for (let after: Uint8Array = new Uint8Array(0); ;) {
      const last = after;
      const row = await this.#wait.run(() => this.#blobs.get(last));
      if (!row) return;
      after = requireBytes(row, 'hash');
      yield [{ hash: after, bytes: requireBytes(row, 'bytes') }];
    }
  }

  findBlob(hash: Uint8Array): Uint8Array | undefined {
    const row = this.#blob.get(hash);
    return row && requireBytes(row, 'bytes');
  }

  findSnapshot(name: string): Snapshot | undefined {
    return storedSnapshot(this.#snapshot.get(name));
  }

  snapshotNames(): readonly string[] {
    return this.#snapshotNames.all().map((row) => requireText(row, 'name'));
  }
}
