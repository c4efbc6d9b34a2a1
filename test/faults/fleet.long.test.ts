import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { findNamespaceObstacle } from '../fleet/process-namespace.ts';
import { ROWS, runRow } from './fleet/run.ts';

const obstacle = findNamespaceObstacle();

/**
 * A small `npm run faults fleet`: two hosts, few rounds. `test/e2e/fleet-known.int.test.ts` has the known regressions
 * of each fault.
 */
describe('a fleet', { timeout: 300_000 }, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: '500' } });
  });
  afterAll(async () => server.stop());

  it.for(ROWS.map((row) => ({ row, missing: obstacle ?? row.findObstacle?.() })))(
    '$row.name',
    async ({ row, missing }, { skip }) => {
      skip(missing !== undefined, missing);
      expect((await runRow(row, server, true)).faults).toEqual([]);
    },
  );
});
