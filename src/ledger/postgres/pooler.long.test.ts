import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeCommit } from '../../../test/postgres/make-commit.ts';
import { POOLER, startPooler } from '../../../test/postgres/pooler.ts';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { GENESIS } from '../format/chain.ts';
import { openPostgresStore } from './postgres-store.ts';

const NAME = POOLER ?? 'a pooler (NOT TESTED: pgbouncer is missing, see npm run test:setup)';

let server: PostgresServer;
let database: string;

beforeAll(async () => {
  server = await startPostgres();
  database = new URL(await server.createDatabase()).pathname.slice(1);
});

afterAll(() => server.stop());

const place = () => ({ socketFolder: server.socketFolder, database });

describe.skipIf(POOLER === undefined)(`behind ${NAME}`, () => {
  it('in transaction mode a store is refused by name, with the fix', async () => {
    await using pooler = await startPooler('transaction', place());
    expect(await openPostgresStore({ url: pooler.url, project: 'demo' })).toMatchObject({
      ok: false,
      problem: {
        code: 'store/pooler',
        message: expect.stringContaining('this is a pooler, not PostgreSQL itself'),
        hint: expect.stringContaining('?pooler=session'),
      },
    });
  });

  it('in session mode a store works, if the URL says so', async () => {
    await using pooler = await startPooler('session', place());
    expect(await openPostgresStore({ url: pooler.url, project: 'demo' })).toMatchObject({
      problem: { code: 'store/pooler' },
    });
    const opened = await openPostgresStore({ url: `${pooler.url}?pooler=session`, project: 'demo' });
    if (!opened.ok) throw new Error(opened.problem.message);
    const sizes: number[] = [];
    opened.store.watch(({ size }) => sizes.push(size));
    expect(await opened.store.append(makeCommit('demo', GENESIS, { n: 1 }))).toMatchObject({ ok: true });
    await vi.waitUntil(() => sizes.includes(1), { timeout: 15_000 });
    await opened.store.close();
  });
});
