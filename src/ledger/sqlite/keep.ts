import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Snapshot } from '../store.ts';
import { requireBytesColumn, requireNumberColumn, requireTextColumn } from './row.ts';

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
