import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ledgerProblem } from '../format/limits.ts';
import { type Failure, storeProblemOf } from '../store.ts';
import { databaseLocked, isBusy, isDamaged, LockWait, writeProblem } from './lock-wait.ts';
import { findForeignFile, migrateSqlite } from './migrate.ts';
import { makeSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
import { lockWriter } from './writer-lock.ts';

export type OpenedSqliteStore = { readonly ok: true; readonly store: SqliteStore } | Failure;

/** Opens the file, and waits while another process has it locked. A writer creates a missing file. */
export async function openSqliteStoreWhenUnlocked(
  path: string,
  options: SqliteStoreOptions,
): Promise<OpenedSqliteStore> {
  return new LockWait(path, options.lockTimes).run(() => open(path, options)).catch(storeProblemOf);
}

export function openSqliteStore(path: string, options: SqliteStoreOptions): OpenedSqliteStore {
  try {
    return open(path, options);
  } catch (error) {
    if (isBusy(error)) return { ok: false, problem: databaseLocked(path, 0) };
    throw error;
  }
}

/** Throws if the file is locked; in that case nothing has changed. */
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
    const file = options.isAtRest === true ? `${pathToFileURL(path).href}?immutable=1` : path;
    db = new DatabaseSync(file, { readOnly: release === undefined, timeout: NO_WAIT });
    const problem = release === undefined ? findForeignFile(db, path) : prepareWriter(db, path, options);
    if (!problem) return { ok: true, store: makeSqliteStore(path, db, release, options) };
    db.close();
    return { ok: false, problem };
  } catch (error) {
    if (db?.isOpen) db.close();
    if (isBusy(error)) throw error;
    if (options.isUnsynced && isDamaged(error)) return { ok: false, problem: replicaDamaged(path) };
    return cannotOpen(path, error);
  }
}

function prepareWriter(
  db: DatabaseSync,
  path: string,
  { isUnsynced = false }: SqliteStoreOptions,
): Problem | undefined {
  const synchronous = isUnsynced ? 'OFF' : 'FULL';
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
  // Without this setting, REPLACE would delete rows without running the triggers that refuse a delete.
  db.exec('PRAGMA recursive_triggers = ON');
  return migrateSqlite(db, path);
}

function replicaDamaged(path: string): Problem {
  return ledgerProblem(
    'ledger/damaged',
    `${path} is damaged`,
    'It is set aside and built again from the shared store.',
  );
}

function cannotOpen(path: string, error: unknown): OpenedSqliteStore {
  const found = writeProblem(path, error);
  if (found.code === 'ledger/disk-full' || found.code === 'ledger/read-only') return { ok: false, problem: found };
  const what = error instanceof Error ? error.message : String(error);
  const isDamaged = error instanceof Error && 'errcode' in error && DAMAGED.has(Number(error.errcode) & 0xff);
  const hint = isDamaged
    ? 'The file is damaged. Restore it from a backup. See: baton docs ledger#backup'
    : 'Check the owner of the file and its folder, and the free space. Then: baton ledger verify';
  return { ok: false, problem: ledgerProblem('ledger/cannot-open', `${path} cannot be opened: ${what}`, hint) };
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

/** SQLite never waits for a lock, because it would block the whole process. `LockWait` waits instead. */
const NO_WAIT = 0;
/** Only a long burst of commits reaches this; the WAL (about 4 MiB) is then reused from its start. */
export const WAL_PAGES = 1_000;
