import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ledgerProblem } from '../format/limits.ts';
import { requireNumber, requireText } from '../columns.ts';

/** "Batn" in ASCII: distinguishes ledgers from other SQLite files. */
const APPLICATION_ID = 0x42_61_74_6e;

/** Migrates a file to the newest version, or returns why it is not a ledger. A new file has version 0. */
export function migrateSqlite(db: DatabaseSync, path: string): Problem | undefined {
  const before = findForeignFile(db, path);
  if (before) return before;
  for (const migration of migrations()) {
    if (migration.number <= readPragma(db, 'user_version')) continue;
    db.exec('BEGIN IMMEDIATE');
    // Checked again inside the transaction: another process may have migrated.
    if (migration.number > readPragma(db, 'user_version')) {
      db.exec(migration.sql);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migration.number}`);
    }
    db.exec('COMMIT');
  }
  return undefined;
}

export function findForeignFile(db: DatabaseSync, path: string): Problem | undefined {
  const version = readPragma(db, 'user_version');
  const application = readPragma(db, 'application_id');
  const isNew = version === 0 && application === 0 && readPragma(db, 'schema_version') === 0;
  if (!isNew && application !== APPLICATION_ID) {
    return ledgerProblem('ledger/not-a-ledger', `${path} is not a ledger`, 'Name another file.');
  }
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'checkpoint'").get()) {
    const hint =
      'Move the ledger and its outside checkpoint away: Baton creates a new one. The version that wrote the ledger can still verify and export it.';
    return ledgerProblem('ledger/older-ledger', `${path} was written before 0.1.0 had its format`, hint);
  }
  const newest = migrations().at(-1)?.number ?? 0;
  if (version <= newest) return undefined;
  const message = `${path} was written by a newer Baton (format ${version}, this one knows ${newest})`;
  return ledgerProblem('ledger/newer-ledger', message, 'Update Baton.');
}

export function readPragma(db: DatabaseSync, name: 'user_version' | 'application_id' | 'schema_version'): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}

function migrations(): { readonly number: number; readonly sql: string }[] {
  const folder = join(import.meta.dirname, 'sql');
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 4)), sql: readFileSync(join(folder, name), 'utf8') }));
}

/** Returns faults that reading entries would not show: damaged pages, missing triggers, tiles beyond the entries. */
export function findSqliteFaults(db: DatabaseSync): readonly string[] {
  return [...damagedPages(db), ...wrongSchema(db), ...strayTiles(db)];
}

function damagedPages(db: DatabaseSync): string[] {
  return db
    .prepare('PRAGMA quick_check(5)')
    .all()
    .map((row) => requireText(row, 'quick_check'))
    .filter((line) => line !== 'ok')
    .map((line) => `SQLite finds the file damaged: ${line}`);
}

/** Compares the schema with what the migrations create: a missing or additional trigger is a fault. */
function wrongSchema(db: DatabaseSync): string[] {
  const fresh = new DatabaseSync(':memory:');
  migrateSqlite(fresh, ':memory:');
  const wanted = schemaOf(fresh);
  const found = schemaOf(db);
  fresh.close();
  const names = [...new Set([...wanted.keys(), ...found.keys()])].sort();
  const wrong = names
    .filter((name) => wanted.get(name) !== found.get(name))
    .map((name) => `${name} was changed: its protection against changes may be missing`);
  return readPragma(db, 'application_id') === APPLICATION_ID
    ? wrong
    : [...wrong, 'the file is no longer marked as a ledger'];
}

function schemaOf(db: DatabaseSync): Map<string, string> {
  const rows = db.prepare(`SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_schema`).all();
  return new Map(
    rows.map((row) => [`${requireText(row, 'type')} ${requireText(row, 'name')}`, requireText(row, 'sql')]),
  );
}

function strayTiles(db: DatabaseSync): string[] {
  const stray = requireNumber(db.prepare(STRAY_TILES).get(), 'stray');
  return stray === 0 ? [] : [`${stray} tiles belong to no entries`];
}

const STRAY_TILES = `
  SELECT count(*) AS stray FROM tile WHERE level NOT IN (8, 16, 24, 32, 40, 48) OR "index" < 0
  OR ("index" + 1) * (1 << level) > (SELECT coalesce(max(seq), 0) FROM entry)`;
