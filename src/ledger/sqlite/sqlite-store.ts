import { renameSync, rmSync, statfsSync } from 'node:fs';
import { backup, type DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import {
  type Appended,
  type Commit,
  type Head,
  HealthLog,
  storeProblemOf,
  type Range,
  type Snapshot,
  type Store,
  StoreProblem,
} from '../store.ts';
import { SqliteAppender } from './append.ts';
import { isStoreFault, type LockTimes, LockWait, writeProblem } from './lock-wait.ts';
import { findSqliteFaults } from './migrate.ts';
import { SqliteReader } from './read.ts';
import { SqliteHeadWatch } from './watch.ts';

export interface SqliteStoreOptions {
  /** Any number of readers, which change nothing; one writer. */
  readonly mode: 'write' | 'read';
  /** The WAL is copied back into the file after this time without a commit, so that no commit waits for it. */
  readonly idleMs?: number;
  readonly lockTimes?: LockTimes;
}

/** `node:sqlite` is synchronous: the promises only wait for locks of other processes. */
export class SqliteStore implements Store {
  readonly kind = 'sqlite';
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #reader: SqliteReader;
  readonly #appender: SqliteAppender | undefined;
  readonly #watch: SqliteHeadWatch;
  readonly #release: (() => void) | undefined;
  readonly #idleMs: number;
  readonly #reads: LockWait;
  readonly #writes: LockWait;
  readonly #log = new HealthLog();
  #probing: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(path: string, db: DatabaseSync, release: (() => void) | undefined, options: SqliteStoreOptions) {
    this.path = path;
    this.#db = db;
    this.#reads = new LockWait(path, options.lockTimes);
    this.#writes = new LockWait(path, options.lockTimes, (problem, sinceMs) => this.#log.failed(problem, sinceMs));
    this.#reader = new SqliteReader(db, this.#reads);
    this.#appender = release && new SqliteAppender(db, path, this.#reader);
    this.#watch = new SqliteHeadWatch(path, () => this.#reader.head());
    this.#release = release;
    this.#idleMs = options.idleMs ?? 200;
  }

  async head(): Promise<Head> {
    return this.#reads.run(() => this.#reader.head());
  }

  async append(commit: Commit): Promise<Appended> {
    const appender = this.#appender;
    if (!appender) throw new Error('this store was opened for reading');
    const appended = await this.#writes.run(() => appender.append(commit)).catch(storeProblemOf);
    if ('problem' in appended) this.#log.failed(appended.problem, 0, lackedBy(commit, appended.problem));
    else this.#log.succeeded(() => Math.max(sizeOf(commit), freeBytes(this.path)));
    if (appended.ok) {
      this.#watch.announce(appended.head);
      this.#waitForIdle();
    }
    return appended;
  }

  entries(range: Range): ReturnType<SqliteReader['entries']> {
    return this.#reader.entries(range);
  }

  hashes(range: Range): ReturnType<SqliteReader['hashes']> {
    return this.#reader.hashes(range);
  }

  async tiles(level: number, range: Range): Promise<readonly Uint8Array[]> {
    return this.#reads.run(() => this.#reader.tiles(level, range));
  }

  async findCheckpoint(size?: number): ReturnType<Store['findCheckpoint']> {
    return this.#reads.run(() => this.#reader.findCheckpoint(size));
  }

  async putBlob(hash: Uint8Array, bytes: Uint8Array): Promise<void> {
    await this.#run('INSERT INTO blob (hash, bytes) VALUES (?, ?)', hash, bytes);
  }

  async findBlob(hash: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#reads.run(() => this.#reader.findBlob(hash));
  }

  blobs(): ReturnType<SqliteReader['blobs']> {
    return this.#reader.blobs();
  }

  async saveSnapshot(name: string, { size, hash, bytes }: Snapshot): Promise<void> {
    await this.#run(SAVE_SNAPSHOT, name, size, hash, bytes);
  }

  async findSnapshot(name: string): Promise<Snapshot | undefined> {
    return this.#reads.run(() => this.#reader.findSnapshot(name));
  }

  async dropSnapshot(name: string): Promise<void> {
    await this.#run('DELETE FROM snapshot WHERE name = ?', name);
  }

  async snapshotNames(): Promise<readonly string[]> {
    return this.#reads.run(() => this.#reader.snapshotNames());
  }

  async inspect(): Promise<readonly string[]> {
    return this.#reads.run(() => findSqliteFaults(this.#db));
  }

  watch(listener: (head: Head) => void): () => void {
    return this.#watch.add(listener, this.#appender === undefined);
  }

  /** Copies the file as it is at some moment during the call; writing continues meanwhile. */
  async backupTo(path: string): Promise<void> {
    const draft = `${path}.partial`;
    rmSync(draft, { force: true });
    await backup(this.#db, draft);
    renameSync(draft, path);
  }

  health(): StoreHealth {
    return this.#log.health;
  }

  async probe(freshMs = 0): Promise<StoreHealth> {
    const appender = this.#appender;
    const isProven = this.#log.health.writable && this.#log.provenAgoMs < freshMs;
    if (appender && !isProven) this.#probing ??= this.#probe(appender).finally(() => (this.#probing = undefined));
    await this.#probing;
    return this.#log.health;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#watch.close();
    if (!this.#db.isOpen) return;
    this.#db.close();
    this.#release?.();
  }

  async #probe(appender: SqliteAppender): Promise<void> {
    const problem = await this.#write(() => appender.probe(), PROBE_MS).catch((error) => storeProblemOf(error).problem);
    if (problem !== undefined) this.#log.failed(problem);
  }

  async #run(sql: string, ...values: SQLInputValue[]): Promise<void> {
    await this.#write(() => this.#db.prepare(sql).run(...values));
  }

  /** Every write except a commit. Its outcome counts for the health, unless the data is at fault. */
  async #write<T>(work: () => T, waitMs?: number): Promise<T> {
    try {
      const value = await this.#writes.run(work, waitMs);
      this.#log.succeeded(() => freeBytes(this.path));
      return value;
    } catch (error) {
      const problem = isStoreFault(error) ? writeProblem(this.path, error) : undefined;
      if (problem) this.#log.failed(problem);
      throw problem ? new StoreProblem(problem, error) : error;
    }
  }

  #waitForIdle(): void {
    if (this.#idle) this.#idle.refresh();
    else this.#idle = setTimeout(() => this.#copyBack(), this.#idleMs).unref();
  }

  #copyBack(): void {
    this.#idle = undefined;
    try {
      // Passive: copies what it can without blocking readers or writers.
      if (this.#db.isOpen) this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The disk is full. The data is safe in the WAL, and the next idle timer tries again.
    }
  }
}

const PROBE_MS = 500;

const SAVE_SNAPSHOT = `
  INSERT INTO snapshot (name, size, hash, bytes) VALUES (?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET size = excluded.size, hash = excluded.hash, bytes = excluded.bytes`;

function lackedBy(commit: Commit, { code }: Problem): number {
  return code === 'ledger/disk-full' ? sizeOf(commit) : 0;
}

function sizeOf({ entries }: Commit): number {
  return entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Infinity if the file system reports no free space; then only the write shows whether it fits. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
