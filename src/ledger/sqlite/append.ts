import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import type { Appended, Commit, Head } from '../store.ts';
import { databaseReplaced, isBusy, writeProblem } from './lock-wait.ts';
import { readPragma } from './migrate.ts';
import type { SqliteReader } from './read.ts';

/** Writes each commit in one transaction with one fsync. The head is cached, because there is one writer. */
export class SqliteAppender {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #inode: number | undefined;
  #inPlaceMs = -Infinity;
  readonly #reader: SqliteReader;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #entry: StatementSync;
  readonly #entries: StatementSync;
  readonly #tile: StatementSync;
  /** The cached head; undefined if the last read failed. */
  #head: Head | undefined;

  constructor(db: DatabaseSync, path: string, reader: SqliteReader) {
    this.#db = db;
    this.#path = path;
    this.#inode = inodeOf(path);
    this.#reader = reader;
    this.#head = reader.head();
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#entry = db.prepare('INSERT INTO entry (seq, hash, note, bytes) VALUES (?, ?, ?, ?)');
    const rows = Array.from({ length: TOGETHER }, (_, i) => `(?1 + ${i}, ?${2 * i + 2}, NULL, ?${2 * i + 3})`);
    this.#entries = db.prepare(`INSERT INTO entry (seq, hash, note, bytes) VALUES ${rows.join(', ')}`);
    this.#tile = db.prepare('INSERT INTO tile (level, "index", hash) VALUES (?, ?, ?)');
  }

  /** Writes all or nothing. Throws if another process holds a lock; in that case nothing is written. */
  append(commit: Commit): Appended {
    const before = (this.#head ??= this.#reader.head());
    if (!isSame(before, commit.after)) return { ok: false, conflict: before };
    if (!this.#isInPlace()) return { ok: false, problem: databaseReplaced(this.#path) };
    try {
      // A single statement is its own transaction, and most commits are one entry.
      if (commit.entries.length === 1 && commit.tiles.length === 0) this.#insert(commit);
      else this.#insertTogether(commit);
    } catch (error) {
      // A failed commit leaves its transaction and lock open.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      if (isBusy(error)) throw error;
      this.#head = this.#findHead();
      return this.#head === undefined || isSame(this.#head, commit.after)
        ? { ok: false, problem: writeProblem(this.#path, error) }
        : { ok: false, conflict: this.#head };
    }
    const last = commit.entries.at(-1) ?? commit.entries[0];
    this.#head = { size: last.seq, hash: last.hash };
    return { ok: true, head: this.#head };
  }

  /** Rewrites one page unchanged, durably. Throws if another process holds a lock. */
  probe(): Problem | undefined {
    if (inodeOf(this.#path) !== this.#inode) return databaseReplaced(this.#path);
    this.#db.exec(`PRAGMA user_version = ${readPragma(this.#db, 'user_version')}`);
    return undefined;
  }

  /** After a failed write even the read may fail; whether the commit was recorded is then unknown. */
  #findHead(): Head | undefined {
    try {
      return this.#reader.head();
    } catch {
      return undefined;
    }
  }

  /**
   * Reports whether the file still exists at its path, since SQLite would keep writing into a deleted file. The check
   * costs a hundredth of a commit, so not every commit makes it.
   */
  #isInPlace(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#inPlaceMs < INODE_CHECK_MS) return true;
    const isInPlace = inodeOf(this.#path) === this.#inode;
    if (isInPlace) this.#inPlaceMs = nowMs;
    return isInPlace;
  }

  #insert({ entries, checkpoint: { size, note } }: Commit, from = 0): void {
    for (let i = from; i < entries.length; i += 1) {
      const { seq, hash, bytes, note: own = null } = entries[i] ?? entries[0];
      this.#entry.run(seq, hash, seq === size ? note : own, bytes);
    }
  }

  /** Inserts full groups of `TOGETHER` without notes; the last entry carries one. Returns the number inserted. */
  #insertMany({ entries }: Commit): number {
    let done = 0;
    if (entries.length > TOGETHER && entries.some(({ note }) => note !== undefined)) return done;
    for (; done + TOGETHER < entries.length; done += TOGETHER) {
      const values: (number | Uint8Array)[] = [(entries[done] ?? entries[0]).seq];
      for (let i = done; i < done + TOGETHER; i += 1) {
        const { hash, bytes } = entries[i] ?? entries[0];
        values.push(hash, bytes);
      }
      this.#entries.run(...values);
    }
    return done;
  }

  #insertTogether(commit: Commit): void {
    this.#begin.run();
    this.#insert(commit, this.#insertMany(commit));
    for (const { level, index, hash } of commit.tiles) this.#tile.run(level, index, hash);
    this.#commit.run();
  }
}

/** Entries per statement: each run of a statement costs about as much as a row. */
const TOGETHER = 8;
const INODE_CHECK_MS = 5;

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isSame(a: Head, b: Head): boolean {
  return a.size === b.size && sameBytes(a.hash, b.hash);
}
