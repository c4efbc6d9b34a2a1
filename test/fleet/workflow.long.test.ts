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
  // The seal follows shortly after the end.
  const entries = await until(
    'the workflow is closed and sealed',
    async () => {
      const all = await fleet.entries();
      const isClosed = all.some(
        ({ type, data }) => type === 'HandoffDelivered' && data['to'] === null && data['task_id'] === id,
      );
      return isClosed && all.some(({ type }) => type === 'LedgerSealed') ? all : undefined;
    },
    90_000,
  );
  const merged = entries.filter(({ type, data }) => type === 'MergeFinished' && data['outcome'] === 'merged');
  expect(merged).toHaveLength(1);
  expect(world.git(world.repository, 'rev-parse', 'main')).toBe(merged[0]?.data['merge_sha']);
  expect(world.git(world.repository, 'rev-list', '--count', `${before}..main`)).toBe('1');
  expect(findBroken(entries, [])).toEqual([]);
  expect(await findChainFault(fleet.url, PROJECT)).toBeUndefined();
}, 120_000);
