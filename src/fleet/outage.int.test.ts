import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Proxy, startProxy } from '../../test/postgres/proxy.ts';
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts';
import type { Store } from '../ledger/store.ts';
import { openTestLedger, record, testDraft } from '../ledger/writer/ledger.cases.ts';
import type { Ledger } from '../ledger/writer/ledger.ts';
import { makeBeat } from './beat.cases.ts';
import { type FleetDatabase, makeFleetDatabase } from './database.ts';
import type { FleetTables } from './tables.ts';

/** What agents send must be in the outbox within 2 s. A busy machine gets some slack. */
const LIMIT_MS = 2_500;

let server: PostgresServer;
let proxy: Proxy;
let database: FleetDatabase;
let ledger: Ledger;
let store: Store;
let fleet: FleetTables;

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startProxy(server.socketFolder);
});

beforeEach(async () => {
  const name = new URL(await server.createDatabase()).pathname.slice(1);
  database = makeFleetDatabase({ url: proxy.url(name) });
  const opened = await database.openProject('demo', { host: 'a', replica: undefined, admitted: () => ['a'] });
  if (!opened.ok) throw new Error(opened.problem.message);
  ({ store, fleet } = opened);
  ledger = await openTestLedger({ store });
  await record(ledger, [testDraft(1)]);
  await fleet.beat(makeBeat('a'));
  return async () => {
    await ledger.close();
    await database.close();
  };
});

afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

describe.each([
  ['killed', () => server.kill(), () => server.restart()],
  ['cut off, without a word', freeze, thaw],
])('a server that is %s', (_name, begin, end) => {
  it('fails appends, reads and beats within 2 s, and recovers', async () => {
    await begin();
    expect(await timed(ledger.append([testDraft(2)]))).toMatchObject({
      ms: expect.toSatisfy(isQuick),
      result: { ok: false, problem: { code: 'ledger/unavailable' } },
    });
    expect(await timed(store.head())).toMatchObject(UNAVAILABLE);
    expect(await timed(fleet.beat(makeBeat('a')))).toMatchObject(UNAVAILABLE);
    expect(store.health().writable).toBe(false);
    await end();
    await vi.waitUntil(async () => (await ledger.append([testDraft(3)])).ok, { timeout: 15_000 });
    await vi.waitUntil(
      () =>
        fleet.beat(makeBeat('a')).then(
          () => true,
          () => false,
        ),
      { timeout: 15_000 },
    );
    expect(store.health().writable).toBe(true);
    expect(await store.inspect()).toEqual([]);
  });
});

let heal: (() => void) | undefined;

function freeze(): Promise<void> {
  heal = proxy.freeze();
  return Promise.resolve();
}

function thaw(): Promise<void> {
  heal?.();
  return Promise.resolve();
}

async function timed<T>(promise: Promise<T>): Promise<{ readonly ms: number; readonly result: unknown }> {
  const started = performance.now();
  const result = await promise.catch((error: unknown) => error);
  return { ms: performance.now() - started, result };
}

function isQuick(ms: number): boolean {
  return ms < LIMIT_MS;
}

const UNAVAILABLE = { ms: expect.toSatisfy(isQuick), result: { problem: { code: 'ledger/unavailable' } } };
