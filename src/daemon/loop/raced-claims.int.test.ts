import { expect, it, onTestFinished } from 'vitest';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { startPostgres } from '../../../test/postgres/server.ts';
import { raceClaims } from './raced-claims.cases.ts';

it('grants each task once although two daemons share a PostgreSQL', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const url = await server.createDatabase();
  const { tasks, ...raced } = await raceClaims(() => requireStore({ url, project: 'demo' }), 100);
  expect(raced).toEqual({ granted: tasks, claimed: tasks, isVerified: true });
});
