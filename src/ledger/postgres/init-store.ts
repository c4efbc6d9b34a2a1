import { Client, DatabaseError } from 'pg';
import { checkStoreUrl } from '../../protocol/store-url.ts';
import { ledgerProblem } from '../format/limits.ts';
import type { Failure } from '../store.ts';
import { INSUFFICIENT_PRIVILEGE, migratePostgres } from './migrate.ts';
import { isConnectionLoss, PostgresProblem, serverUnavailable, translateServerError } from './problems.ts';
import { applySettings } from './settings.ts';

export interface InitializedStore {
  readonly ok: true;
  /** The URL for `baton.toml`: the same database, as the daemons' role. */
  readonly url: string;
  readonly isRoleNew: boolean;
  /** What the operator must still do, one sentence each. */
  readonly nextSteps: readonly string[];
}

/**
 * Creates or updates the schema as its owner, and a role for daemons that can add to ledgers but never change them.
 * Safe to run again. No password passes through here.
 */
export async function initStore(
  ownerUrl: string,
  { role }: { readonly role: string },
): Promise<InitializedStore | Failure> {
  if (!ROLE.test(role))
    return refuse(`${JSON.stringify(role)} is not a valid name of a role`, 'Use a-z, 0-9 and _, for example: baton');
  return asOwner(ownerUrl, 'baton store init', async (client) => {
    await migratePostgres(client);
    const isRoleNew = await giveRole(client, role);
    return { ok: true, url: urlFor(ownerUrl, role), isRoleNew, nextSteps: nextSteps(ownerUrl, role, isRoleNew) };
  });
}

/** Runs statements as the owner of the schema. Nothing else in Baton needs these rights. */
export async function asOwner<T>(
  ownerUrl: string,
  name: string,
  use: (client: Client) => Promise<T>,
): Promise<T | Failure> {
  const checked = checkStoreUrl(ownerUrl);
  if (!checked.ok) return { ok: false, problem: checked.problems[0] };
  const client = new Client({
    connectionString: ownerUrl,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: name,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await applySettings(client, { durable: true, url: ownerUrl });
    return await use(client);
  } catch (error) {
    const problem = isConnectionLoss(error) ? serverUnavailable(error) : translateServerError(error);
    if (problem instanceof PostgresProblem) return { ok: false, problem: problem.problem };
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const ROLE = /^[a-z_][a-z0-9_]{0,62}$/;
const CONNECT_MS = 10_000;

/**
 * Creates or updates the role and returns whether it is new. Rights are revoked first, because an older version may
 * have granted more.
 */
async function giveRole(client: Client, role: string): Promise<boolean> {
  await client.query('BEGIN');
  try {
    const { rows } = await client.query<{ canOwn: boolean }>(KNOWN_ROLE, [role]);
    if (rows[0]?.canOwn === true) throw ownsSchema(role);
    if (rows[0] === undefined) await createRole(client, role);
    await grantRights(client, role);
    await client.query('INSERT INTO baton.shared_role (role) VALUES ($1) ON CONFLICT DO NOTHING', [role]);
    await client.query('COMMIT');
    return rows[0] === undefined;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

export async function createRole(client: Client, role: string): Promise<void> {
  try {
    await client.query(`CREATE ROLE ${client.escapeIdentifier(role)} LOGIN`);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    const hint = `As a role with CREATEROLE, run: CREATE ROLE ${role} LOGIN. Then run baton store init again.`;
    throw new PostgresProblem(ledgerProblem('store/role', `the owner may not create the role ${role}`, hint), error);
  }
}

const KNOWN_ROLE = `
  SELECT r.rolsuper OR pg_has_role(r.oid, s.nspowner, 'MEMBER') AS "canOwn"
  FROM pg_roles r, pg_namespace s WHERE r.rolname = $1 AND s.nspname = 'baton'`;

const RIGHTS = `
  REVOKE ALL ON SCHEMA baton FROM :role;
  REVOKE ALL ON ALL TABLES IN SCHEMA baton FROM :role;
  GRANT USAGE ON SCHEMA baton TO :role;
  GRANT SELECT ON baton.migration, baton.snapshot TO :role;
  GRANT SELECT ON baton.project, baton.entry, baton.tile, baton.blob, baton.quarantine TO :role;
  GRANT SELECT, INSERT, UPDATE, DELETE ON baton.host, baton.caretaker, baton.lease, baton.join_request,
    baton.generation, baton.replica_report TO :role;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA baton TO :role;
  REVOKE EXECUTE ON FUNCTION baton.quarantine_after(integer, bigint, bytea) FROM :role`;

/** For a role of daemons: it reads its projects, and adds to their ledgers only through the functions of the owner. */
export async function grantRights(client: Client, role: string): Promise<void> {
  await client.query(RIGHTS.replaceAll(':role', client.escapeIdentifier(role)));
}

function ownsSchema(role: string): PostgresProblem {
  const message = `the role ${role} owns the schema baton or is a superuser, so it could change what was recorded`;
  return new PostgresProblem(
    ledgerProblem('store/role', message, 'Name another role: baton store init URL --database-role NAME'),
  );
}

function refuse(message: string, hint: string): Failure {
  return { ok: false, problem: ledgerProblem('store/role', message, hint) };
}

export function urlFor(ownerUrl: string, role: string): string {
  const url = new URL(ownerUrl);
  url.username = role;
  return url.href;
}

function nextSteps(ownerUrl: string, role: string, isRoleNew: boolean): string[] {
  const password = `Set its password in psql: \\password ${role} (a role without one can log in only where pg_hba.conf says so).`;
  const pass =
    'On each host put it into ~/.pgpass (or the file of PGPASSFILE), readable by its owner only: HOST:PORT:DATABASE:ROLE:PASSWORD';
  return [...(isRoleNew ? [password] : []), pass, `Name the store in baton.toml: store = "${urlFor(ownerUrl, role)}"`];
}
