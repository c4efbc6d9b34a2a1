import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, DatabaseError } from 'pg';
import { newerLedger, schemaMissing } from './problems.ts';

const FOLDER = join(import.meta.dirname, 'sql');
/** An arbitrary number for the advisory lock, which no other program may use in this database. */
const LOCK = 4_207_849_517;

interface Migration {
  readonly number: number;
  readonly name: string;
}

/** Migrates the schema `baton`. Daemons that start together wait for each other, and one of them migrates. */
export async function migratePostgres(client: Client): Promise<void> {
  const migrations = await listMigrations();
  const latest = latestOf(migrations);
  const found = await readVersion(client);
  if (requireReadable(found, latest).number >= latest) return;
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(GROUND);
    const { number: version } = requireReadable(await readVersion(client), latest);
    for (const migration of migrations.filter(({ number }) => number > version)) await apply(client, migration);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    const mayNot = error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
    throw mayNot ? schemaMissing(found.number, latest, error) : error;
  }
}

export const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Refuses a schema that this version cannot read. A newer schema only adds to an older one, and states the oldest
 * daemon version that can use it.
 */
function requireReadable(found: Version, latest: number): Version {
  if (found.number > latest && found.oldestReader > latest) throw newerLedger(found.number, latest);
  return found;
}

async function apply(client: Client, { number, name }: Migration): Promise<void> {
  const text = await readFile(join(FOLDER, name), 'utf8');
  const oldest = Number(/^-- oldest reader: (\d+)$/m.exec(text)?.[1] ?? number);
  await client.query(text);
  const row = 'INSERT INTO baton.migration (number, name, oldest_reader) VALUES ($1, $2, $3)';
  await client.query(row, [number, name, oldest]);
}

async function listMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).toSorted();
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name }));
}

const GROUND = `
  CREATE SCHEMA IF NOT EXISTS baton;
  CREATE TABLE IF NOT EXISTS baton.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  );
  ALTER TABLE baton.migration ADD COLUMN IF NOT EXISTS oldest_reader integer NOT NULL DEFAULT 1`;

interface Version {
  /** The schema's version; 0 if there is no schema. */
  readonly number: number;
  readonly oldestReader: number;
}

async function readVersion(client: Client): Promise<Version> {
  const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass('baton.migration') IS NOT NULL AS found`);
  if (rows[0]?.found !== true) return { number: 0, oldestReader: 0 };
  const newest = await client.query<{ number: number; oldest: number }>(NEWEST);
  return { number: newest.rows[0]?.number ?? 0, oldestReader: newest.rows[0]?.oldest ?? 0 };
}

// The first schema had no such column; jsonb reads a missing column as null.
const NEWEST = `
  SELECT coalesce(max(number), 0) AS number, coalesce(max((to_jsonb(m) ->> 'oldest_reader')::integer), 0) AS oldest
  FROM baton.migration m`;

function latestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.number ?? 0;
}
