import { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID, migrateSqlite, readPragma } from './migrate.ts';
import { requireNumberColumn, requireTextColumn } from './row.ts';

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
