import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ledgerProblem } from '../format/ledger-problem.ts';

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
