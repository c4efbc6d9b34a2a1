import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { headOf, makeCommit } from '../../../test/postgres/make-commit.ts';
import { startProxy, type Fault, type Proxy } from '../../../test/postgres/proxy.ts';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { startPostgres, type PostgresServer } from '../../../test/postgres/server.ts';
import { GENESIS } from '../format/chain.ts';
import type { Head, Store, StoredEntry } from '../store.ts';
import { nodeSha256 } from '../writer/keys.ts';
import type { PostgresStoreOptions } from './postgres-store.ts';

/** Every message that sends a commit contains the name of this prepared statement. */
const APPEND = 'baton_append';

let server: PostgresServer;
let proxy: Proxy;
let url: string;
const opened: Store[] = [];

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startProxy(server.socketFolder);
});

beforeEach(async () => {
  url = await server.createDatabase();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

describe('a connection that is lost around a commit', () => {
  it.each<Fault>(['cut before', 'cut after', 'late', 'silence'])('%s: true answer, written once', async (fault) => {
    const store = await open({ url: proxy.url(nameOf(url)), silenceMs: 500 });
    const first = makeCommit('demo', GENESIS, { n: 1 });
    expect(await store.append(first)).toMatchObject({ ok: true });
    const happened = proxy.fault(fault, APPEND);
    const second = makeCommit('demo', headOf(first), { n: 2 }, { n: 3 });
    const answer = store.append(second);
    await happened;
    expect(await answer).toEqual({ ok: true, head: { size: 3, hash: Buffer.from(headOf(second).hash) } });
    proxy.release();
    const third = makeCommit('demo', headOf(second), { n: 4 });
    expect(await store.append(third)).toMatchObject({ ok: true });
    expect((await readAll(store)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(await store.inspect()).toEqual([]);
  });

  it('is a conflict if another writer was faster, even with the same entries', async () => {
    const store = await open({ url: proxy.url(nameOf(url)) });
    const rival = await open({ url });
    expect(await store.head()).toMatchObject({ size: 0 });
    const commit = makeCommit('demo', GENESIS, { n: 1 });
    const happened = proxy.fault('cut before', APPEND);
    const goOn = proxy.pause();
    const answer = store.append(commit);
    await happened;
    expect(await rival.append(commit)).toMatchObject({ ok: true });
    goOn();
    expect(await answer).toMatchObject({ ok: false, conflict: { size: 1 } });
  });

  it('is a problem if the server stays unreachable', async () => {
    const store = await open({ url: proxy.url(nameOf(url)), patienceMs: 1_000 });
    for (const fault of ['cut before', 'cut after'] as const) {
      const head = await store.head();
      // Opens the writing session before the fault is planned.
      await store.putBlob(nodeSha256(Buffer.from('blob')), Buffer.from('blob'));
      const happened = proxy.fault(fault, APPEND);
      const goOn = proxy.pause();
      const answer = store.append(makeCommit('demo', head, { fault }));
      await happened;
      expect(await answer).toMatchObject({ ok: false, problem: { code: 'ledger/unavailable' } });
      goOn();
    }
    expect((await readAll(store)).map(({ bytes }) => /cut \w+/.exec(Buffer.from(bytes).toString())?.[0])).toEqual([
      'cut after',
    ]);
    expect(await store.append(makeCommit('demo', await store.head(), { n: 9 }))).toMatchObject({ ok: true });
  });
});

describe('a server that is killed and comes back', () => {
  it('is found again by every operation, and notifies watchers', async () => {
    const store = await open({ url, catchUpMs: 60_000 });
    const other = await open({ url });
    const heads: Head[] = [];
    store.watch((head) => heads.push(head));
    const first = makeCommit('demo', GENESIS, { n: 1 });
    await other.append(first);
    await vi.waitUntil(() => heads.length === 1, { timeout: 15_000 });

    await server.kill();
    const second = makeCommit('demo', headOf(first), { n: 2 });
    const answer = other.append(second);
    const read = readAll(store);
    await server.restart();
    expect(await answer).toMatchObject({ ok: true });
    expect((await read).length).toBeGreaterThanOrEqual(1);
    await vi.waitUntil(() => heads.at(-1)?.size === 2, { timeout: 15_000 });

    await other.append(makeCommit('demo', headOf(second), { n: 3 }));
    await vi.waitUntil(() => heads.at(-1)?.size === 3, { timeout: 15_000 });
    expect(heads.map(({ size }) => size)).toEqual([1, 2, 3]);
  });

  it('is refused permanently if it has lost entries that were seen before', async () => {
    const store = await open({ url });
    const commit = makeCommit('demo', GENESIS, { n: 1 }, { n: 2 });
    await store.append(commit);
    await store.head();
    await rollBackTo(1);
    await server.kill();
    await server.restart();
    await expect(store.head()).rejects.toMatchObject({ problem: { code: 'ledger/rolled-back' } });
    expect(await store.append(makeCommit('demo', headOf(commit), { n: 3 }))).toMatchObject({
      ok: false,
      problem: { code: 'ledger/rolled-back' },
    });
  });
});

describe('waking', () => {
  it('reaches the other stores of the project, and of no other project', async () => {
    const [store, same, foreign] = [await open({ url }), await open({ url }), await open({ url, project: 'other' })];
    const seen: string[] = [];
    store.watch(({ size }) => seen.push(`own ${size}`));
    const stop = same.watch(({ size }) => seen.push(`same ${size}`));
    foreign.watch(({ size }) => seen.push(`foreign ${size}`));
    const first = makeCommit('demo', GENESIS, { n: 1 });
    await store.append(first);
    await vi.waitUntil(() => seen.length === 2, { timeout: 15_000 });
    stop();
    await store.append(makeCommit('demo', headOf(first), { n: 2 }));
    await vi.waitUntil(() => seen.length === 3, { timeout: 15_000 });
    expect(seen.toSorted()).toEqual(['own 1', 'own 2', 'same 1']);
  });

  it('reports many commits with few calls, and always the last', async () => {
    const store = await open({ url });
    const other = await open({ url });
    const sizes: number[] = [];
    other.watch(({ size }) => sizes.push(size));
    let head: Head = GENESIS;
    for (let n = 1; n <= 200; n += 1) {
      const commit = makeCommit('demo', head, { n });
      await store.append(commit);
      head = headOf(commit);
    }
    await vi.waitUntil(() => sizes.at(-1) === 200, { timeout: 15_000 });
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(sizes.length).toBeLessThan(150);
  });

  it('notices commits of a writer that died before its notification', async () => {
    const writer = await open({ url, wakeEveryMs: 1e9 });
    const store = await open({ url, catchUpMs: 20 });
    const heads: Head[] = [];
    const first = makeCommit('demo', GENESIS, { n: 1 });
    await writer.append(first);
    store.watch((head) => heads.push(head));
    await vi.waitUntil(() => heads.at(-1)?.size === 1, { timeout: 15_000 });
    await writer.append(makeCommit('demo', headOf(first), { n: 2 }));
    await vi.waitUntil(() => heads.at(-1)?.size === 2, { timeout: 15_000 });
    expect(heads).toHaveLength(2);
  });
});

async function open(options: Partial<PostgresStoreOptions> & { url: string }): Promise<Store> {
  const store = await requireStore({ project: 'demo', ...options });
  opened.push(store);
  return store;
}

function nameOf(address: string): string {
  return new URL(address).pathname.slice(1);
}

async function readAll(store: Store): Promise<StoredEntry[]> {
  const all: StoredEntry[] = [];
  for await (const batch of store.entries({ from: 1 })) all.push(...batch);
  return all;
}

/** Rolls back to a valid but older chain, like a promoted asynchronous standby. */
async function rollBackTo(size: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`
    ALTER TABLE baton.entry DISABLE TRIGGER ALL;
    DELETE FROM baton.entry WHERE seq > ${size};`);
  await client.end();
}
