import { expect, it } from 'vitest';
import { allowedEnvironment } from '../../protocol/environment.ts';
import { withoutDatabaseLogin } from './database-login.ts';

it('keeps the login of the daemon from processes whose runbook passes all variables of PostgreSQL', () => {
  const env = {
    PATH: '/bin',
    PGPASSWORD: 'p',
    PGPASSFILE: '/x',
    PGSSLKEY: '/k',
    PGHOST: 'db',
    BATON_STORE: 'postgres://db/b',
  };
  expect(allowedEnvironment(withoutDatabaseLogin(env), ['PG*']).passed).toEqual({ PATH: '/bin', PGHOST: 'db' });
});
