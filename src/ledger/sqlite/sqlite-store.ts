import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Problem } from '../../protocol/problem.ts';
import type { StoreHealth } from '../../protocol/store-health.ts';
import { HealthLog } from '../health-log.ts';
import { ledgerProblem } from '../ledger-problem.ts';
import type { Appended, Commit, Head, Range, Snapshot, Store } from '../store.ts';
import { Appender } from './append.ts';
import { inspect } from './inspect.ts';
import { Keeper } from './keep.ts';
import { findForeign, migrate } from './migrate.ts';
import { Reader } from './read.ts';
import { HeadWatch } from './watch.ts';
import { lockWriter } from './writer-lock.ts';

export interface SqliteStoreOptions {
  /** Readers may come at any time and change nothing; there is one writer. */
  readonly mode: 'write' | 'read';
  /** The WAL is copied back into the file after this time without a commit, so that no commit has to wait for it. */
  readonly idleMs?: number;
}

export type OpenedStore =
  | { readonly ok: true; readonly store: SqliteStore }
  | { readonly ok: false; readonly problem: Problem };

/** Opens the file at `path`; a writer makes it where it is missing. */
export function openSqliteStore(path: string, options: SqliteStoreOptions): OpenedStore {
  return options.mode === 'write' ? openWriter(path, options.idleMs ?? 200) : openReader(path);
}

function openWriter(path: string, idleMs: number): OpenedStore {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const lock = lockWriter(path);
  if (!lock.ok) return lock;
  const opened = openFile(path, false, (db) => {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
    // Without it, REPLACE would delete rows past the triggers that refuse it.
    db.exec('PRAGMA recursive_triggers = ON');
    return migrate(db, path);
  });
  if (!opened.ok) {
    lock.release();
    return opened;
  }
  return { ok: true, store: new SqliteStore(path, opened.db, lock.release, idleMs) };
}

function openReader(path: string): OpenedStore {
  if (!existsSync(path)) {
    return { ok: false, problem: ledgerProblem('ledger/missing', `there is no ledger at ${path}`, 'Run: baton up') };
  }
  const opened = openFile(path, true, (db) => findForeign(db, path));
  return opened.ok ? { ok: true, store: new SqliteStore(path, opened.db, undefined, 0) } : opened;
}

type OpenedFile = { readonly ok: true; readonly db: DatabaseSync } | { readonly ok: false; readonly problem: Problem };

function openFile(path: string, readOnly: boolean, prepare: (db: DatabaseSync) => Problem | undefined): OpenedFile {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly, timeout: BUSY_MS });
    const problem = prepare(db);
    if (!problem) return { ok: true, db };
    db.close();
    return { ok: false, problem };
  } catch (error) {
    if (db?.isOpen) db.close();
    const what = error instanceof Error ? error.message : String(error);
    const problem = ledgerProblem(
      'ledger/cannot-open',
      `${path} cannot be opened: ${what}`,
      'Check the file and its folder: who owns them, and is there room? Then: baton ledger verify',
    );
    return { ok: false, problem };
  }
}

/** Readers wait this long where SQLite itself must: while it recovers after a crash. */
const BUSY_MS = 10_000;

/**
 * Only a storm of commits without a pause reaches this. Afterwards the WAL, about 4 MiB, is written over from its start: blocks that are
 * there already take half the time that new ones do.
 */
export const WAL_PAGES = 1_000;

/** `node:sqlite` works synchronously; the port's promises are already kept when they are given. */
export class SqliteStore implements Store {
  readonly kind = 'sqlite';
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #reader: Reader;
  readonly #keeper: Keeper;
  readonly #appender: Appender | undefined;
  readonly #watch: HeadWatch;
  readonly #release: (() => void) | undefined;
  readonly #idleMs: number;
  readonly #log = new HealthLog();
  #idle: NodeJS.Timeout | undefined;

  constructor(path: string, db: DatabaseSync, release: (() => void) | undefined, idleMs: number) {
    this.path = path;
    this.#db = db;
    this.#reader = new Reader(db);
    this.#keeper = new Keeper(db);
    this.#appender = release && new Appender(db, path, this.#reader);
    this.#watch = new HeadWatch(path, () => this.#reader.head());
    this.#release = release;
    this.#idleMs = idleMs;
  }

  async head(): Promise<Head> {
    return this.#reader.head();
  }

  async append(commit: Commit): Promise<Appended> {
    if (!this.#appender) throw new Error('this store was opened for reading');
    const appended = this.#appender.append(commit);
    if ('problem' in appended) this.#log.failed(appended.problem);
    else this.#log.succeeded();
    if (appended.ok) {
      this.#watch.announce(appended.head);
      this.#waitForIdle();
    }
    return appended;
  }

  entries(range: Range): ReturnType<Reader['entries']> {
    return this.#reader.entries(range);
  }

  hashes(range: Range): ReturnType<Reader['hashes']> {
    return this.#reader.hashes(range);
  }

  async tiles(level: number, range: Range): Promise<readonly Uint8Array[]> {
    return this.#reader.tiles(level, range);
  }

  async findCheckpoint(size?: number): ReturnType<Store['findCheckpoint']> {
    return this.#reader.findCheckpoint(size);
  }

  async putBlob(hash: Uint8Array, bytes: Uint8Array): Promise<void> {
    this.#keeper.putBlob(hash, bytes);
  }

  async findBlob(hash: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#keeper.findBlob(hash);
  }

  blobs(): ReturnType<Reader['blobs']> {
    return this.#reader.blobs();
  }

  async saveSnapshot(name: string, snapshot: Snapshot): Promise<void> {
    this.#keeper.saveSnapshot(name, snapshot);
  }

  async findSnapshot(name: string): Promise<Snapshot | undefined> {
    return this.#keeper.findSnapshot(name);
  }

  async dropSnapshot(name: string): Promise<void> {
    this.#keeper.dropSnapshot(name);
  }

  async snapshotNames(): Promise<readonly string[]> {
    return this.#keeper.snapshotNames();
  }

  async inspect(): Promise<readonly string[]> {
    return inspect(this.#db);
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
    const { health, provenAgoMs } = this.#log;
    if (!this.#appender || (health.writable && provenAgoMs < freshMs)) return health;
    const problem = this.#appender.probe();
    if (problem === undefined) this.#log.succeeded();
    else this.#log.failed(problem);
    return this.#log.health;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#watch.close();
    if (!this.#db.isOpen) return;
    this.#db.close();
    this.#release?.();
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
