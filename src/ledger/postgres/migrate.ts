import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { newerLedger } from './problems.ts';

const FOLDER = join(import.meta.dirname, 'sql');
/** An arbitrary number for the advisory lock; no other program may use it in this database. */
const LOCK = 4_207_849_517;

interface Migration {
  readonly number: number;
  readonly name: string;
}

/** Migrates the schema `baton`. Daemons that start together wait for each other, and one of them migrates. */
export async function migratePostgres(client: Client): Promise<void> {
  const migrations = await listMigrations();
  if ((await readVersion(client)) === latestOf(migrations)) return;
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(GROUND);
    const version = (await readVersion(client)) ?? 0;
    if (version > latestOf(migrations)) throw newerLedger(version, latestOf(migrations));
    for (const { number, name } of migrations.filter((migration) => migration.number > version)) {
      await client.query(await readFile(join(FOLDER, name), 'utf8'));
      await client.query('INSERT INTO baton.migration (number, name) VALUES ($1, $2)', [number, name]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
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
  )`;

async function readVersion(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass('baton.migration') IS NOT NULL AS found`);
  if (rows[0]?.found !== true) return undefined;
  const newest = await client.query<{ number: number | null }>('SELECT max(number) AS number FROM baton.migration');
  return newest.rows[0]?.number ?? undefined;
}

function latestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.number ?? 0;
}

/** Settings that the statements rely on. A standby counts as unavailable: state is read from the primary only. */
export async function applySettings(client: Client, { durable }: { readonly durable: boolean }): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>({ text: APPLY, values: [durable] });
  if (rows[0]?.standby !== false)
    throw new Error('the server is a standby, and entries are read from the primary only');
}

// `remote_apply` is stricter than `on`, so a server that asks for it keeps it.
const APPLY = `
  SELECT set_config('synchronous_commit', CASE
           WHEN NOT $1::boolean THEN 'off'
           WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply'
           ELSE 'on' END, false),
         set_config('default_transaction_isolation', 'read committed', false),
         set_config('bytea_output', 'hex', false),
         pg_is_in_recovery() AS standby`;
