import { renameSync, rmSync, statfsSync } from 'node:fs';
import { backup, type DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Problem } from '../../protocol/shape/problem.ts';
import { type Commit, HealthLog, type Store, StoreProblem, storeProblemOf } from '../store.ts';
import { SqliteAppender } from './append.ts';
import { isStoreFault, type LockTimes, LockWait, writeProblem } from './lock-wait.ts';
import { findSqliteFaults } from './migrate.ts';
import { PartsFile } from './parts-file.ts';
import { makeSqliteReader } from './read.ts';
import { SqliteHeadWatch } from './watch.ts';

export interface SqliteStoreOptions {
  /** Any number of readers, which change nothing, and one writer. */
  readonly mode: 'write' | 'read';
  /** After this time without a commit the WAL is copied back into the file, so that no commit waits for the copy. */
  readonly idleMs?: number;
  readonly lockTimes?: LockTimes;
  /** Skips syncing until the file is closed. For a replica, whose entries are durable elsewhere. */
  readonly isUnsynced?: boolean;
  /**
   * For a reader that must not create a file: a plain reader leaves an empty WAL and its index behind. Allowed only
   * while no process writes, since the reader neither locks the file nor sees changes.
   */
  readonly isAtRest?: boolean;
}

/** A store that can also copy its file, as of some moment during the call, while writing continues. */
export interface SqliteStore extends Store {
  readonly path: string;
  backupTo(path: string): Promise<void>;
}

/** `node:sqlite` is synchronous: the promises only wait for locks of other processes. */
export function makeSqliteStore(
  path: string,
  db: DatabaseSync,
  release: (() => void) | undefined,
  { lockTimes, idleMs = 200, isUnsynced = false }: SqliteStoreOptions,
): SqliteStore {
  const log = new HealthLog();
  const reads = new LockWait(path, lockTimes);
  const writes = new LockWait(path, lockTimes, (problem, sinceMs) => log.failed(problem, sinceMs));
  const reader = makeSqliteReader(db, reads);
  const appender = release && new SqliteAppender(db, path, reader);
  const watch = new SqliteHeadWatch(path, reader.head);
  let probing: Promise<void> | undefined;
  let idle: NodeJS.Timeout | undefined;

  const copyBack = (): void => {
    idle = undefined;
    try {
      // PASSIVE copies as much as possible without blocking readers or writers.
      if (db.isOpen) db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The disk is full. The data is safe in the WAL, and the next idle timer tries again.
    }
  };

  /** Runs every write except a commit. Its outcome determines the health, unless the data is at fault. */
  const write = async <T>(work: () => T, waitMs?: number): Promise<T> => {
    try {
      const value = await writes.run(work, waitMs);
      log.succeeded(() => freeBytes(path));
      return value;
    } catch (error) {
      const problem = isStoreFault(error) ? writeProblem(path, error) : undefined;
      if (problem) log.failed(problem);
      throw problem ? new StoreProblem(problem, error) : error;
    }
  };
  const run = async (sql: string, ...values: SQLInputValue[]): Promise<void> => {
    await write(() => db.prepare(sql).run(...values));
  };
  const probe = async (proven: SqliteAppender): Promise<void> => {
    const problem = await write(() => proven.probe(), PROBE_MS).catch((error) => storeProblemOf(error).problem);
    if (problem !== undefined) log.failed(problem);
  };

  return {
    kind: 'sqlite',
    path,
    head: () => reads.run(reader.head),
    async append(commit) {
      if (!appender) throw new Error('this store was opened for reading');
      const appended = await writes.run(() => appender.append(commit)).catch(storeProblemOf);
      if ('problem' in appended) log.failed(appended.problem, 0, lackedBy(commit, appended.problem));
      else log.succeeded(() => Math.max(sizeOf(commit), freeBytes(path)));
      if (appended.ok) {
        watch.announce(appended.head);
        if (idle) idle.refresh();
        else idle = setTimeout(copyBack, idleMs).unref();
      }
      return appended;
    },
    newer: (head) => reads.run(() => reader.newer(head)),
    entries: (range) => reader.entries(range),
    hashes: (range) => reader.hashes(range),
    blobs: () => reader.blobs(),
    tiles: (level, range) => reads.run(() => reader.tiles(level, range)),
    findCheckpoint: (size) => reads.run(() => reader.findCheckpoint(size)),
    putBlob: (hash, bytes) => run('INSERT INTO blob (hash, bytes) VALUES (?, ?)', hash, bytes),
    findBlob: (hash) => reads.run(() => reader.findBlob(hash)),
    saveSnapshot: (name, { size, hash, bytes }) => run(SAVE_SNAPSHOT, name, size, hash, bytes),
    findSnapshot: (name) => reads.run(() => reader.findSnapshot(name)),
    dropSnapshot: (name) => run('DELETE FROM snapshot WHERE name = ?', name),
    snapshotNames: () => reads.run(reader.snapshotNames),
    state: new PartsFile(`${path}.state`),
    inspect: () => reads.run(() => findSqliteFaults(db)),
    watch: (listener) => watch.add(listener, appender === undefined),
    async backupTo(copy) {
      const draft = `${copy}.partial`;
      rmSync(draft, { force: true });
      await backup(db, draft);
      renameSync(draft, copy);
    },
    health: () => log.health,
    async probe(freshMs = 0) {
      const isProven = log.health.writable && log.provenAgoMs < freshMs;
      if (appender && !isProven) probing ??= probe(appender).finally(() => (probing = undefined));
      await probing;
      return log.health;
    },
    async close() {
      clearTimeout(idle);
      watch.close();
      if (!db.isOpen) return;
      if (isUnsynced) syncAll(db);
      db.close();
      release?.();
    },
  };
}

function syncAll(db: DatabaseSync): void {
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The disk is full, or a reader holds a lock: the next start checks the file.
  }
}

const SAVE_SNAPSHOT = `
  INSERT INTO snapshot (name, size, hash, bytes) VALUES (?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET size = excluded.size, hash = excluded.hash, bytes = excluded.bytes`;

function lackedBy(commit: Commit, { code }: Problem): number {
  return code === 'ledger/disk-full' ? sizeOf(commit) : 0;
}

function sizeOf({ entries }: Commit): number {
  return entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Returns Infinity if the file system reports no free space; then only the write shows whether it fits. */
function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

const PROBE_MS = 500;
