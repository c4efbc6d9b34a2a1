import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ledgerProblem } from '../format/limits.ts';
import { requireNumberColumn, requireTextColumn } from './read.ts';

/** "Batn" in ASCII: tells our files from any other SQLite file. */
export const APPLICATION_ID = 0x42_61_74_6e;

/** Brings a file up to the newest number, or says why it cannot be one of ours. A new file has number 0. */
export function migrateSqlite(db: DatabaseSync, path: string): Problem | undefined {
  const before = findForeignFile(db, path);
  if (before) return before;
  for (const migration of migrations()) {
    if (migration.number <= readPragma(db, 'user_version')) continue;
    db.exec('BEGIN IMMEDIATE');
    // Looked at again inside: another process may have been faster.
    if (migration.number > readPragma(db, 'user_version')) {
      db.exec(migration.sql);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migration.number}`);
    }
    db.exec('COMMIT');
  }
  return undefined;
}

/** Somebody else's file, or one of a newer Baton, is not touched. */
export function findForeignFile(db: DatabaseSync, path: string): Problem | undefined {
  const version = readPragma(db, 'user_version');
  const application = readPragma(db, 'application_id');
  const isNew = version === 0 && application === 0 && readPragma(db, 'schema_version') === 0;
  if (!isNew && application !== APPLICATION_ID) {
    return ledgerProblem('ledger/not-a-ledger', `${path} is not a ledger`, 'Name another file.');
  }
  if (hasTable(db, 'checkpoint')) {
    const hint =
      'Move it away, with its outside checkpoint: a new one is made. The Baton that wrote it can still verify and export it.';
    return ledgerProblem('ledger/older-ledger', `${path} was written before 0.1.0 had its format`, hint);
  }
  const newest = migrations().at(-1)?.number ?? 0;
  if (version <= newest) return undefined;
  return ledgerProblem(
    'ledger/newer-ledger',
    `${path} was written by a newer Baton (format ${version}, this one knows ${newest})`,
    'Update Baton.',
  );
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

export function readPragma(db: DatabaseSync, name: 'user_version' | 'application_id' | 'schema_version'): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}

interface Migration {
  readonly number: number;
  readonly sql: string;
}

function migrations(): Migration[] {
  const folder = join(import.meta.dirname, 'sql');
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 4)), sql: readFileSync(join(folder, name), 'utf8') }));
}

/** What reading entries would not show: damaged pages, a schema without its triggers, tiles beyond the entries. */
export function findSqliteFaults(db: DatabaseSync): readonly string[] {
  return [...damagedPages(db), ...wrongSchema(db), ...strayTiles(db)];
}

function damagedPages(db: DatabaseSync): string[] {
  return db
    .prepare('PRAGMA quick_check(5)')
    .all()
    .map((row) => requireTextColumn(row, 'quick_check'))
    .filter((line) => line !== 'ok')
    .map((line) => `SQLite finds the file damaged: ${line}`);
}

/** The schema must be exactly what the migrations make: a trigger that is gone, or one too many, is a finding. */
function wrongSchema(db: DatabaseSync): string[] {
  const fresh = new DatabaseSync(':memory:');
  migrateSqlite(fresh, ':memory:');
  const wanted = schemaOf(fresh);
  const found = schemaOf(db);
  fresh.close();
  const names = [...new Set([...wanted.keys(), ...found.keys()])].sort();
  const wrong = names
    .filter((name) => wanted.get(name) !== found.get(name))
    .map((name) => `${name} is not as Baton made it: its rule against changes may be gone`);
  return readPragma(db, 'application_id') === APPLICATION_ID
    ? wrong
    : [...wrong, 'the file is not marked as a ledger any more'];
}

function schemaOf(db: DatabaseSync): Map<string, string> {
  const rows = db.prepare(`SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_schema`).all();
  return new Map(
    rows.map((row) => [
      `${requireTextColumn(row, 'type')} ${requireTextColumn(row, 'name')}`,
      requireTextColumn(row, 'sql'),
    ]),
  );
}

function strayTiles(db: DatabaseSync): string[] {
  const row = db
    .prepare(
      `SELECT count(*) AS stray FROM tile WHERE level NOT IN (8, 16, 24, 32, 40, 48) OR "index" < 0
       OR ("index" + 1) * (1 << level) > (SELECT coalesce(max(seq), 0) FROM entry)`,
    )
    .get();
  const stray = requireNumberColumn(row, 'stray');
  return stray === 0 ? [] : [`${stray} tiles belong to no entries`];
}
