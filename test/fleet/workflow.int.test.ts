import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { until } from '../processes/until.ts';
import { Fleet, PROJECT } from './fleet.ts';
import { findBroken } from './invariants.ts';
import { findChainFault } from './read-chain.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => server.stop());

it('a request becomes a merge on PostgreSQL as on SQLite: merged, sealed, and the chain verifies', async () => {
  const database = new URL(await server.createDatabase()).pathname.slice(1);
  const place = { server: { socketFolder: server.socketFolder, database }, direct: true };
  await using fleet = await Fleet.open({
    ...place,
    hosts: 1,
    sample: join(import.meta.dirname, '../../examples/sample'),
  });
  const { world } = fleet.founder;
  const before = world.git(world.repository, 'rev-parse', 'main');
  const { id } = await fleet.founder.order<{ id: string }>('run_start', {
    name: 'issue',
    args: ['Read durations back'],
  });
  await until(
    'the workflow is closed',
    async () =>
      (await fleet.entries()).some(
        ({ type, data }) => type === 'HandoffDelivered' && data['to'] === null && data['task_id'] === id,
      ),
    90_000,
  );
  const entries = await fleet.entries();
  const merged = entries.filter(({ type, data }) => type === 'MergeFinished' && data['outcome'] === 'merged');
  expect(merged).toHaveLength(1);
  expect(world.git(world.repository, 'rev-parse', 'main')).toBe(merged[0]?.data['merge_sha']);
  expect(world.git(world.repository, 'rev-list', '--count', `${before}..main`)).toBe('1');
  expect(entries.some(({ type }) => type === 'LedgerSealed')).toBe(true);
  expect(findBroken(entries, [])).toEqual([]);
  expect(await findChainFault(fleet.url, PROJECT)).toBeUndefined();
}, 120_000);
