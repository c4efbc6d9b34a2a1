import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { sameBytes } from '../hex.ts';
import type { Appended, Commit } from '../store.ts';
import { writeProblem } from './problems.ts';
import type { Reader } from './read.ts';

/** Writes commits: one transaction, one fsync each. */
export class Appender {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #reader: Reader;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #entry: StatementSync;
  readonly #tile: StatementSync;
  readonly #checkpoint: StatementSync;

  constructor(db: DatabaseSync, path: string, reader: Reader) {
    this.#db = db;
    this.#path = path;
    this.#reader = reader;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#entry = db.prepare('INSERT INTO entry (seq, hash, bytes) VALUES (?, ?, ?)');
    this.#tile = db.prepare('INSERT INTO tile (level, "index", hash) VALUES (?, ?, ?)');
    this.#checkpoint = db.prepare('INSERT INTO checkpoint (size, note) VALUES (?, ?)');
  }

  append(commit: Commit): Appended {
    try {
      this.#begin.run();
      const head = this.#reader.head();
      if (head.size !== commit.after.size || !sameBytes(head.hash, commit.after.hash)) {
        this.#db.exec('ROLLBACK');
        return { ok: false, conflict: head };
      }
      for (const { seq, hash, bytes } of commit.entries) this.#entry.run(seq, hash, bytes);
      for (const { level, index, hash } of commit.tiles) this.#tile.run(level, index, hash);
      this.#checkpoint.run(commit.checkpoint.size, commit.checkpoint.note);
      this.#commit.run();
    } catch (error) {
      // A commit that failed leaves its transaction open, and with it the lock.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      return { ok: false, problem: writeProblem(this.#path, error) };
    }
    const last = commit.entries.at(-1) ?? commit.entries[0];
    return { ok: true, head: { size: last.seq, hash: last.hash } };
  }
}
