import { existsSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ledgerProblem } from '../format/limits.ts';
import {
  type Appended,
  type Commit,
  type Head,
  HealthLog,
  type Range,
  type Snapshot,
  type Store,
  StoreProblem,
} from '../store.ts';
import { SqliteAppender } from './append.ts';
import { databaseLocked, isBusy, isStoreFault, type LockTimes, LockWait, writeProblem } from './lock-wait.ts';
import { findForeignFile, findSqliteFaults, migrateSqlite } from './migrate.ts';
import { BlobAndSnapshotTables, SqliteReader } from './read.ts';
import { SqliteHeadWatch } from './watch.ts';
import { lockWriter } from './writer-lock.ts';

export interface SqliteStoreOptions {
  /** Readers may come at any time and change nothing; there is one writer. */
  readonly mode: 'write' | 'read';
  /** The WAL is copied back into the file after this time without a commit, so that no commit has to wait for it. */
  readonly idleMs?: number;
  /** How long to wait for a file that another process has locked. */
  readonly lockTimes?: LockTimes;
}

export type OpenedSqliteStore =
  | { readonly ok: true; readonly store: SqliteStore }
  | { readonly ok: false; readonly problem: Problem };

/** Opens the file at `path`, and waits while another process has locked it. A writer creates a missing file. */
export async function openSqliteStoreWhenUnlocked(
  path: string,
  options: SqliteStoreOptions,
): Promise<OpenedSqliteStore> {
  const wait = new LockWait(path, options.lockTimes);
  try {
    return await wait.run(() => open(path, options));
  } catch (error) {
    if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

/** The same in one try: a locked file is a problem. */
export function openSqliteStore(path: string, options: SqliteStoreOptions): OpenedSqliteStore {
  try {
    return open(path, options);
  } catch (error) {
    if (isBusy(error)) return { ok: false, problem: databaseLocked(path, 0) };
    throw error;
  }
}

/** Throws if the file is locked: nothing has happened then. */
function open(path: string, options: SqliteStoreOptions): OpenedSqliteStore {
  return options.mode === 'write' ? openWriter(path, options) : openReader(path, options);
}

function openWriter(path: string, options: SqliteStoreOptions): OpenedSqliteStore {
  let release: (() => void) | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const lock = lockWriter(path);
    if (!lock.ok) return lock;
    ({ release } = lock);
  } catch (error) {
    return cannotOpen(path, error);
  }
  let opened: OpenedSqliteStore | undefined;
  try {
    opened = openFile(path, options, release);
    return opened;
  } finally {
    if (opened?.ok !== true) release();
  }
}

function openReader(path: string, options: SqliteStoreOptions): OpenedSqliteStore {
  if (!existsSync(path)) {
    return { ok: false, problem: ledgerProblem('ledger/missing', `there is no ledger at ${path}`, 'Run: baton up') };
  }
  return openFile(path, options, undefined);
}

function openFile(path: string, options: SqliteStoreOptions, release: (() => void) | undefined): OpenedSqliteStore {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: release === undefined, timeout: NO_WAIT });
    const problem = release === undefined ? findForeignFile(db, path) : prepareWriter(db, path);
    if (!problem) return { ok: true, store: new SqliteStore(path, db, release, options) };
    db.close();
    return { ok: false, problem };
  } catch (error) {
    if (db?.isOpen) db.close();
    if (isBusy(error)) throw error;
    return cannotOpen(path, error);
  }
}

function prepareWriter(db: DatabaseSync, path: string): Problem | undefined {
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
  // Without it, REPLACE would delete rows past the triggers that refuse it.
  db.exec('PRAGMA recursive_triggers = ON');
  return migrateSqlite(db, path);
}

function cannotOpen(path: string, error: unknown): OpenedSqliteStore {
  const found = writeProblem(path, error);
  if (found.code === 'ledger/disk-full' || found.code === 'ledger/read-only') return { ok: false, problem: found };
  const what = error instanceof Error ? error.message : String(error);
  const problem = ledgerProblem(
    'ledger/cannot-open',
    `${path} cannot be opened: ${what}`,
    'Check the file and its folder: who owns them, and is there room? Then: baton ledger verify',
  );
  return { ok: false, problem };
}

/** SQLite itself never waits for a lock: it would stop the whole process. `LockWait` does. */
const NO_WAIT = 0;

/**
 * Only a storm of commits without a pause reaches this. Afterwards the WAL, about 4 MiB, is written over from its start: blocks that are
 * there already take half the time that new ones do.
 */
export const WAL_PAGES = 1_000;

/** `node:sqlite` works synchronously: the promises of the port wait only for the locks of other processes. */
export class SqliteStore implements Store {
  readonly kind = 'sqlite';
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #reader: SqliteReader;
  readonly #keeper: BlobAndSnapshotTables;
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
    this.#keeper = new BlobAndSnapshotTables(db);
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
    const appended = await this.#writes.run(() => appender.append(commit)).catch(problemOf);
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
    await this.#write(() => this.#keeper.putBlob(hash, bytes));
  }

  async findBlob(hash: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#reads.run(() => this.#keeper.findBlob(hash));
  }

  blobs(): ReturnType<SqliteReader['blobs']> {
    return this.#reader.blobs();
  }

  async saveSnapshot(name: string, snapshot: Snapshot): Promise<void> {
    await this.#write(() => this.#keeper.saveSnapshot(name, snapshot));
  }

  async findSnapshot(name: string): Promise<Snapshot | undefined> {
    return this.#reads.run(() => this.#keeper.findSnapshot(name));
  }

  async dropSnapshot(name: string): Promise<void> {
    await this.#write(() => this.#keeper.dropSnapshot(name));
  }

  async snapshotNames(): Promise<readonly string[]> {
    return this.#reads.run(() => this.#keeper.snapshotNames());
  }

  async inspect(): Promise<readonly string[]> {
    return this.#reads.run(() => findSqliteFaults(this.#db));
  }

  watch(listener: (head: Head) => void): () => void {
    return this.#watch.add(listener, this.#appender === undefined);
  }

  /** A copy of the file as it is at some moment during the call; writing goes on meanwhile. */
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
    const problem = await this.#write(() => appender.probe(), PROBE_MS).catch((error: unknown) => {
      if (!(error instanceof StoreProblem)) throw error;
      return error.problem;
    });
    if (problem !== undefined) this.#log.failed(problem);
  }

  /** Every write but a commit. What became of it is part of the health, unless what was written is at fault. */
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
      // Passive: it takes what it can without making a reader or a writer wait.
      if (this.#db.isOpen) this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // A full disk. Everything is safe in the WAL, and the next quiet moment tries again.
    }
  }
}

/** How long a probe waits for a lock. */
const PROBE_MS = 500;

function lackedBy(commit: Commit, { code }: Problem): number {
  return code === 'ledger/disk-full' ? sizeOf(commit) : 0;
}

function sizeOf({ entries }: Commit): number {
  return entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** A file system that does not tell, or a quota that it does not know of, leaves the proof to the write itself. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

function problemOf(error: unknown): { readonly ok: false; readonly problem: Problem } {
  if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
  throw error;
}
