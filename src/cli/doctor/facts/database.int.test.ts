import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCommit } from '../../../../test/postgres/make-commit.ts';
import { requireStore } from '../../../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../../../test/postgres/server.ts';
import { GENESIS } from '../../../ledger/format/chain.ts';
import { readDatabase } from './database.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.stop());

it('reads the clock and the size of a chain', async () => {
  const url = await server.createDatabase();
  const store = await requireStore({ url, project: 'demo' });
  await store.append(makeCommit('demo', GENESIS, { n: 1 }, { n: 2 }));
  await store.close();
  const { url: shown, answer } = await readDatabase(url, 'demo');
  expect(shown).not.toContain('@');
  expect(answer).toMatchObject({ ok: true, entries: 2, rights: 'owner' });
  expect(answer.ok && Math.abs(answer.offsetMs)).toBeLessThan(1000);
  expect((await readDatabase(url, 'unknown')).answer).toMatchObject({ ok: true, entries: 0 });
});

it('does not set up a database', async () => {
  const url = await server.createDatabase();
  expect((await readDatabase(url, 'demo')).answer).toMatchObject({
    ok: false,
    message: 'the database has no tables of Baton',
  });
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT to_regnamespace('baton') IS NULL AS absent");
  await client.end();
  expect(rows).toEqual([{ absent: true }]);
});

it('reports within a bounded time that a server does not answer', async () => {
  const startMs = performance.now();
  const { answer } = await readDatabase('postgres://baton@127.0.0.1:1/baton', 'demo', 300);
  expect(answer).toMatchObject({ ok: false, message: expect.stringContaining('does not answer') });
  expect(performance.now() - startMs).toBeLessThan(15_000);
});

it('refuses an invalid URL', async () => {
  expect((await readDatabase('postgres://', 'demo')).answer).toMatchObject({ ok: false });
});
