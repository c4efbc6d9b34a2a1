import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeCommit } from '../../test/postgres/make-commit.ts';
import { requireStore } from '../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts';
import { MemoryStore } from '../ledger/memory-store.ts';
import { makePostgresDatabase } from '../ledger/postgres/postgres-store.ts';
import { compareWithReplica } from '../ledger/replica/compare.ts';
import type { Store } from '../ledger/store.ts';
import { dropForkReport, forkReports } from './replica-reports.ts';
import { copyPrefix, makeHistory, openHost, readChain, recreate, rollBack, type TestHost } from './recovery.cases.ts';

let server: PostgresServer;
let url: string;
let history: Store;
let projects = 0;
let project: string;
const hosts: TestHost[] = [];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  history = await makeHistory(10);
});

beforeEach(async () => {
  projects += 1;
  project = `p${projects}`;
  const store = await requireStore({ url, project });
  await copyPrefix(history, store, 10);
  await store.close();
});

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

afterAll(async () => {
  await server.stop();
});

describe('a server that was restarted', () => {
  it('is open again as soon as every host has compared, if nothing is lost', async () => {
    const [a, b] = [await open('a', 10), await open('b', 7)];
    await Promise.all([a.store.head(), b.store.head()]);
    await server.kill();
    const first = a.store.append(makeCommit('demo', await history.head(), { n: 11 }));
    await server.restart();
    const restarted = performance.now();
    expect(await first).toMatchObject({ ok: true, head: { size: 11 } });
    expect(performance.now() - restarted).toBeLessThan(5_000);
    expect(await b.store.head()).toMatchObject({ size: 11 });
  });

  it('refuses writes of a process beside the daemons until they have compared', async () => {
    const a = await open('a', 10, ['a']);
    await a.store.head();
    await a.close();
    await server.kill();
    await server.restart();
    const beside = await requireStore({ url, project, opening: 'daemons' });
    const commit = makeCommit('demo', await beside.head(), { n: 11 });
    expect(await beside.append(commit)).toMatchObject({ ok: false, problem: { code: 'ledger/recovering' } });
    await (await open('a', 10, ['a'])).store.head();
    expect(await beside.append(commit)).toMatchObject({ ok: true });
    await beside.close();
  });
});

describe('a server that lost entries', () => {
  it('gets them back from the longest replica, byte for byte, before anybody writes', async () => {
    const replicas = { a: await copyOf(10), b: await copyOf(8) };
    const [a, b] = [await open('a', replicas.a), await open('b', replicas.b)];
    await Promise.all([a.store.head(), b.store.head()]);
    await rollBack(url, project, 6);
    await server.kill();
    await server.restart();
    const late = b.store.append(makeCommit('demo', { size: 6, hash: await hashOf(6) }, { n: 'too early' }));
    expect(await late).toMatchObject({ ok: false, conflict: { size: 10 } });
    expect(await compareWithReplica(a.store, history)).toBe('same');
    expect(await a.store.inspect()).toEqual([]);
  });

  it('gets them back from a host that comes late, if nobody has written since', async () => {
    const a = await open('a', 6, ['a']);
    await a.store.head();
    await rollBack(url, project, 6);
    await server.kill();
    await server.restart();
    expect(await a.store.head()).toMatchObject({ size: 6 });
    const b = await open('b', 10);
    expect(await b.store.head()).toMatchObject({ size: 10 });
    expect(await compareWithReplica(a.store, history)).toBe('same');
  });
});

describe('a database that was created again, and is empty', () => {
  let own: string;

  beforeEach(async () => {
    own = await server.createDatabase();
    const store = await requireStore({ url: own, project: 'demo' });
    await copyPrefix(history, store, 10);
    await store.close();
  });

  it('gets everything back from the longest replica, while the server runs on', async () => {
    const a = await openIn(own, 'a', 6);
    const b = await openIn(own, 'b', 10);
    expect(await a.store.head()).toMatchObject({ size: 10 });
    await recreate(own);
    await vi.waitUntil(
      () =>
        a.store.head().then(
          ({ size }) => size === 10,
          () => false,
        ),
      { timeout: 15_000 },
    );
    expect(await compareWithReplica(a.store, history)).toBe('same');
    expect(await b.store.append(makeCommit('demo', await history.head(), { n: 11 }))).toMatchObject({ ok: true });
  });

  it('is not mistaken for the old one if the project has another number', async () => {
    const a = await openIn(own, 'a', 10, ['a']);
    await a.store.head();
    await recreate(own);
    await (await requireStore({ url: own, project: 'other' })).close();
    const code = (): Promise<unknown> => a.store.head().then(String, ({ problem }) => problem.code);
    await vi.waitUntil(async () => (await code()) === 'ledger/replaced', { timeout: 15_000 });
    expect(await (await openIn(own, 'a', 10, ['a'])).store.head()).toMatchObject({ size: 10 });
  });
});

describe('a fork', () => {
  it('stops every host and changes nothing, until the host that differs has accepted the chain', async () => {
    const other = await makeHistory(10, { from: 9, text: 100 });
    const [a, b] = [await open('a', 10), await open('b', 10)];
    await Promise.all([a.store.head(), b.store.head()]);
    await b.close();
    const forked = await open('b', await copyPrefix(other, new MemoryStore(), 10));
    await server.kill();
    await server.restart();
    const [first, second] = await Promise.allSettled([a.store.head(), forked.store.head()]);
    expect([first, second]).toMatchObject([
      { status: 'rejected', reason: { problem: { code: 'ledger/forked', message: expect.stringContaining(' b ') } } },
      { status: 'rejected', reason: { problem: { code: 'ledger/forked' } } },
    ]);
    expect(await a.store.append(makeCommit('demo', await history.head(), { n: 11 }))).toMatchObject({
      ok: false,
      problem: { code: 'ledger/forked' },
    });
    expect(await readChain(url, project)).toMatchObject({ size: 10 });
    await forked.close();
    const accepted = await open('b', 10);
    expect(await accepted.store.head()).toMatchObject({ size: 10 });
    expect(await a.store.append(makeCommit('demo', await history.head(), { n: 11 }))).toMatchObject({ ok: true });
  });

  it('of a host that is gone for good is dropped by the operator', async () => {
    const other = await makeHistory(10, { from: 9, text: 100 });
    const a = await open('a', 10);
    const gone = await open('b', await copyPrefix(other, new MemoryStore(), 10));
    await server.kill();
    await server.restart();
    await expect(a.store.head()).rejects.toMatchObject({ problem: { code: 'ledger/forked' } });
    await gone.close();
    const database = makePostgresDatabase({ url, patienceMs: 6_000 });
    const connection = database.connect('operator');
    expect(await forkReports(connection, a.project)).toMatchObject([{ host: 'b', size: 10 }]);
    await dropForkReport(connection, a.project, 'b');
    await connection.close();
    await database.close();
    const alone = await open('a', 10, ['a']);
    expect(await alone.store.head()).toMatchObject({ size: 10 });
  });

  it('of two replicas stops them before one of them is appended', async () => {
    const other = await makeHistory(10, { from: 8, text: 100 });
    const [a, b] = [await open('a', 10), await open('b', await copyPrefix(other, new MemoryStore(), 9))];
    await rollBack(url, project, 6);
    await server.kill();
    await server.restart();
    const heads = await Promise.allSettled([a.store.head(), b.store.head()]);
    expect(heads.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await readChain(url, project)).toMatchObject({ size: 6 });
  });

  it('of a host that comes late stops the others with their next beat, until it has accepted the chain', async () => {
    const { a, late } = await comeLate(['a', 'b']);
    expect((await a.beat()).forked).toBe(true);
    await expect(a.store.head()).rejects.toMatchObject({
      problem: { code: 'ledger/forked', message: expect.stringContaining(' b ') },
    });
    await late.close();
    const accepted = await open('b', 10);
    expect(await accepted.store.head()).toMatchObject({ size: 10 });
    expect((await a.beat()).forked).toBe(false);
    expect(await a.store.append(makeCommit('demo', await history.head(), { n: 11 }))).toMatchObject({ ok: true });
  });

  it('stops no other host if its host was removed', async () => {
    const { a } = await comeLate(['a']);
    await a.beat();
    const written = await a.store.append(makeCommit('demo', await history.head(), { n: 11 }));
    expect(written).toMatchObject({ ok: true });
    await server.kill();
    await server.restart();
    expect(await a.store.head()).toMatchObject({ size: 11 });
  });

  /** Opens the chain for host a, then opens host b with entries that differ. */
  async function comeLate(admitted: string[]): Promise<{ readonly a: TestHost; readonly late: TestHost }> {
    const a = await open('a', 10, admitted);
    await a.store.head();
    const other = await makeHistory(10, { from: 9, text: 100 });
    const late = await open('b', await copyPrefix(other, new MemoryStore(), 10));
    await expect(late.store.head()).rejects.toMatchObject({ problem: { code: 'ledger/forked' } });
    return { a, late };
  }
});

async function open(host: string, replica: Store | number, admitted = ['a', 'b']): Promise<TestHost> {
  const store = typeof replica === 'number' ? await copyOf(replica) : replica;
  const opened = await openHost(url, project, { host, replica: store, admitted });
  hosts.push(opened);
  return opened;
}

async function openIn(address: string, host: string, size: number, admitted = ['a', 'b']): Promise<TestHost> {
  const opened = await openHost(address, 'demo', { host, replica: await copyOf(size), admitted });
  hosts.push(opened);
  return opened;
}

function copyOf(size: number): Promise<Store> {
  return copyPrefix(history, new MemoryStore(), size);
}

async function hashOf(size: number): Promise<Uint8Array> {
  return (await (await copyOf(size)).head()).hash;
}
