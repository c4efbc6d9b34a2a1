import { execFileSync } from 'node:child_process';
import { platform } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { isPostgres, STORE_URL } from '../stores/chosen.ts';
import type { World } from './world.ts';

export type Mend = () => Promise<void>;

type Ledgered = Pick<World, 'ledgerFile' | 'project'>;

/** Makes every commit of the daemon fail until the returned function is called. */
export async function breakStore(world: World): Promise<Mend> {
  if (isPostgres) return refuseEntries(world);
  return platform() === 'linux' ? limitFiles(world) : holdLock(world);
}

/** Limits files to one page: small ones can be written, but a commit fails, as on a full disk. */
function limitFiles({ daemonPid }: World): Mend {
  const limit = (size: string): void => void execFileSync('prlimit', ['--pid', String(daemonPid), `--fsize=${size}:`]);
  limit('4096');
  return async () => limit('unlimited');
}

/** Makes the database refuse this project's entries, as if it were full; other worlds on the server continue. */
export async function refuseEntries({ ledgerFile, project }: Ledgered): Promise<Mend> {
  if (isPostgres) return refuseInPostgres(project);
  const db = new DatabaseSync(ledgerFile);
  db.exec(`CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'full'); END`);
  return async () => {
    db.exec('DROP TRIGGER full');
    db.close();
  };
}

async function refuseInPostgres(project: string): Promise<Mend> {
  const client = await connect();
  const id = await idOf(client, project);
  await client.query(`CREATE FUNCTION public.full_${id}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  await client.query(`CREATE TRIGGER full_${id} BEFORE INSERT ON baton.entry FOR EACH ROW
    WHEN (NEW.project = ${id}) EXECUTE FUNCTION public.full_${id}()`);
  return async () => {
    await client.query(`DROP FUNCTION public.full_${id}() CASCADE`);
    await client.end();
  };
}

/**
 * Holds a write lock on the ledger in another process; on SQLite the daemon waits for `BATON_LOCK_WAIT_MS` before it
 * gives up.
 */
export async function holdLock({ ledgerFile, project }: Ledgered): Promise<Mend> {
  if (isPostgres) return holdHead(project);
  const db = new DatabaseSync(ledgerFile);
  db.exec('BEGIN IMMEDIATE');
  return async () => db.close();
}

/** Holds the position after the head in an open transaction: other writers wait for its outcome. */
async function holdHead(project: string): Promise<Mend> {
  const client = await connect();
  const id = await idOf(client, project);
  await client.query('BEGIN');
  await client.query(`INSERT INTO baton.entry (project, seq, hash, bytes)
    SELECT ${id}, max(seq) + 1, sha256('held'), 'held' FROM baton.entry WHERE project = ${id}`);
  return async () => client.end();
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: STORE_URL });
  await client.connect();
  return client;
}

async function idOf(client: Client, project: string): Promise<number> {
  const { rows } = await client.query<{ id: number }>('SELECT id FROM baton.project WHERE name = $1', [project]);
  if (rows[0] === undefined) throw new Error(`the database has no project ${project}`);
  return rows[0].id;
}
