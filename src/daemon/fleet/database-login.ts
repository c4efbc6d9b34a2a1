import type { Environment } from '../../protocol/environment.ts';

/**
 * Removes the login to the daemon's database from the environment, so that no process of a project gets it, even if the
 * runbook passes `PG*` to its own tests.
 */
export function withoutDatabaseLogin(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOGIN.has(name)));
}

const LOGIN: ReadonlySet<string> = new Set([
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICEFILE',
  'PGSSLKEY',
  'PGSSLCERT',
  'PGSSLPASSWORD',
]);
