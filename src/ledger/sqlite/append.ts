import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { sameBytes } from '../hex.ts';
import type { Appended, Commit, Head } from '../store.ts';
import { writeProblem } from './problems.ts';
import type { Reader } from './read.ts';

/**
 * Writes commits: one transaction, one fsync each. The head is remembered from the last commit, since there is one
 * writer; if somebody has written past the lock all the same, the next number is taken, and that is a conflict, too.
 */
export class Appender {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #reader: Reader;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #entry: StatementSync;
  readonly #tile: StatementSync;
  readonly #checkpoint: StatementSync;
  #head: Head;

  constructor(db: DatabaseSync, path: string, reader: Reader) {
    this.#db = db;
    this.#path = path;
    this.#reader = reader;
    this.#head = reader.head();
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#entry = db.prepare('INSERT INTO entry (seq, hash, bytes) VALUES (?, ?, ?)');
    this.#tile = db.prepare('INSERT INTO tile (level, "index", hash) VALUES (?, ?, ?)');
    this.#checkpoint = db.prepare('INSERT INTO checkpoint (size, note) VALUES (?, ?)');
  }

  append(commit: Commit): Appended {
    if (!isSame(this.#head, commit.after)) return { ok: false, conflict: this.#head };
    try {
      this.#begin.run();
      for (const { seq, hash, bytes } of commit.entries) this.#entry.run(seq, hash, bytes);
      for (const { level, index, hash } of commit.tiles) this.#tile.run(level, index, hash);
      this.#checkpoint.run(commit.checkpoint.size, commit.checkpoint.note);
      this.#commit.run();
    } catch (error) {
      // A commit that failed leaves its transaction open, and with it the lock.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#head = this.#reader.head();
      return isSame(this.#head, commit.after)
        ? { ok: false, problem: writeProblem(this.#path, error) }
        : { ok: false, conflict: this.#head };
    }
    const last = commit.entries.at(-1) ?? commit.entries[0];
    this.#head = { size: last.seq, hash: last.hash };
    return { ok: true, head: this.#head };
  }
}

function isSame(a: Head, b: Head): boolean {
  return a.size === b.size && sameBytes(a.hash, b.hash);
}
