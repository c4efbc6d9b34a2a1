import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { startPostgres, type PostgresServer } from '../../../test/postgres/server.ts';
import { GENESIS } from '../format/chain.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import { itRecordsTheSame } from '../same-commands.cases.ts';
import { all, commitAfter, describeDurableStore, describeStore, headOf, type StorePlace } from '../store.cases.ts';

let server: PostgresServer;
let url: string;
let projects = 0;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});

afterAll(async () => {
  await server.stop();
});

describeStore('PostgreSQL', makePlace);
describeDurableStore('PostgreSQL', makePlace);
itRecordsTheSame('PostgreSQL', makePlace, 20);

/** Projects of one database are isolated, so a new project serves as a new database. */
async function makePlace(): Promise<StorePlace> {
  projects += 1;
  const project = `project-${projects}`;
  return { open: () => requireStore({ url, project }), remove: async () => {} };
}

it('bounds the bytes of a batch too', async () => {
  const store = await (await makePlace()).open();
  const commit = commitAfter(GENESIS, 150, 'x'.repeat(60_000));
  await store.append(commit);
  const sizes: number[] = [];
  for await (const batch of store.entries({ from: 1 })) {
    sizes.push(batch.reduce((sum, { bytes }) => sum + bytes.length, 0));
  }
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThan(LEDGER_LIMITS.bytesPerCommit + LEDGER_LIMITS.entryBytes);
  expect(await all(store.entries({ from: 1 }))).toHaveLength(150);
  await store.close();
});

it('keeps the chains of projects apart', async () => {
  const [first, second] = [await (await makePlace()).open(), await (await makePlace()).open()];
  const commit = commitAfter(GENESIS, 2, 'first');
  await first.append(commit);
  expect(await second.head()).toEqual(GENESIS);
  expect(await second.append(commitAfter(GENESIS, 1, 'second'))).toMatchObject({ ok: true });
  expect(await first.head()).toEqual(headOf(commit));
  expect(await all(second.entries({ from: 1 }))).toHaveLength(1);
  await Promise.all([first.close(), second.close()]);
});

it('refuses to work after it was closed', async () => {
  const store = await (await makePlace()).open();
  await store.close();
  await expect(store.head()).rejects.toThrow('the store is closed');
  expect(await store.append(commitAfter(GENESIS, 1))).toMatchObject({
    ok: false,
    problem: { code: 'ledger/closed' },
  });
});
