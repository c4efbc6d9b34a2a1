import type { Environment } from '../../protocol/environment.ts';

/** The daemon's login to its database reaches no process of a project, even if the runbook passes `PG*` to its own tests. */
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
