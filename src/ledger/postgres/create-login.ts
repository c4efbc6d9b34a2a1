import { ledgerProblem } from '../format/limits.ts';
import type { Failure } from '../store.ts';
import { asOwner, createRole, grantRights, urlFor } from './init-store.ts';
import { migratePostgres } from './migrate.ts';

export interface CreatedLogin {
  readonly ok: true;
  /** The role that the host logs in as. */
  readonly role: string;
  /** The store's URL with that role. */
  readonly url: string;
  readonly isNew: boolean;
}

/**
 * Creates the login of one host, as the owner. It is a member of the project's group role, so it reads and writes this
 * project and no other. A login that was disabled is enabled again.
 */
export async function createLogin(
  ownerUrl: string,
  { project, host }: { readonly project: string; readonly host: string },
): Promise<CreatedLogin | Failure> {
  return asOwner(ownerUrl, 'baton store login', async (client): Promise<CreatedLogin | Failure> => {
    await migratePostgres(client);
    const found = await client.query<{ id: number; database: string }>(FIND_PROJECT, [project]);
    const [row] = found.rows;
    if (row === undefined) return { ok: false, problem: noProject(project) };
    await client.query('BEGIN');
    const group = name('baton', row.database, row.id);
    const role = name('baton', row.database, row.id, host);
    if ((await client.query(FIND_ROLE, [group])).rowCount === 0)
      await client.query(`CREATE ROLE ${client.escapeIdentifier(group)} NOLOGIN`);
    await grantRights(client, group);
    await client.query(KEEP_GROUP, [row.id, group]);
    const isNew = (await client.query(FIND_ROLE, [role])).rowCount === 0;
    if (isNew) await createRole(client, role);
    else await client.query(`ALTER ROLE ${client.escapeIdentifier(role)} LOGIN`);
    await client.query(`GRANT ${client.escapeIdentifier(group)} TO ${client.escapeIdentifier(role)}`);
    await client.query(KEEP_LOGIN, [row.id, host, role]);
    await client.query('COMMIT');
    return { ok: true, role, url: urlFor(ownerUrl, role), isNew };
  });
}

/** Roles belong to the whole server, so their names contain the database. */
function name(...parts: readonly (string | number)[]): string {
  return parts.join('_').slice(0, MOST_CHARACTERS);
}

const MOST_CHARACTERS = 63;

const FIND_PROJECT = 'SELECT id, current_database() AS database FROM baton.project WHERE name = $1';
const FIND_ROLE = 'SELECT FROM pg_roles WHERE rolname = $1';
const KEEP_GROUP = `
  INSERT INTO baton.project_role (project, role) VALUES ($1, $2) ON CONFLICT (project) DO NOTHING`;
const KEEP_LOGIN = `
  INSERT INTO baton.login (project, host, role) VALUES ($1, $2, $3)
  ON CONFLICT (project, host) DO UPDATE SET disabled_at = NULL, role = excluded.role`;

function noProject(project: string) {
  const hint = 'Move the ledger there first: baton store move --to URL';
  return ledgerProblem('store/no-project', `the database has no project ${project}`, hint);
}
