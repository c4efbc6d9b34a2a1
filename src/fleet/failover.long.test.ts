import { execFile } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type DebianServers,
  hasDebianPostgres,
  startDebianServers,
  WITHOUT_DEBIAN,
} from '../../test/postgres/debian.ts';
import { headOf, makeCommit } from '../../test/postgres/make-commit.ts';
import { startPostgres } from '../../test/postgres/server.ts';
import { sameBytes } from '../ledger/format/bytes.ts';
import { MemoryStore } from '../ledger/memory-store.ts';
import { compareWithReplica } from '../ledger/replica/compare.ts';
import type { Head, Store } from '../ledger/store.ts';
import { copyPrefix, makeHistory, openHost, type TestHost } from './recovery.cases.ts';

const LONG = { timeout: 120_000 };
let history: Store;
const hosts: TestHost[] = [];

beforeEach(async () => {
  history = await makeHistory(10);
});

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

describe.skipIf(!hasDebianPostgres)(`failover${WITHOUT_DEBIAN}`, LONG, () => {
  let servers: DebianServers;

  beforeEach(async () => {
    servers = await startDebianServers();
    return () => servers.stop();
  });

  it('to a synchronous standby loses no acknowledged entry', async () => {
    const primary = await servers.create('p');
    await servers.pointTo(primary);
    const a = await open(servers.url, new MemoryStore());
    const standby = await primary.makeStandby('s');
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await primary.query('SELECT pg_reload_conf()');
    await vi.waitUntil(
      async () => (await primary.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 1,
      { timeout: 15_000 },
    );
    const acknowledged: Head[] = [];
    const stop = new AbortController();
    const writing = appendUntil(stop.signal, a.store, acknowledged);
    await vi.waitUntil(() => acknowledged.length > 50, { timeout: 15_000 });
    await primary.kill();
    const before = acknowledged.length;
    await standby.promote();
    await servers.pointTo(standby);
    await vi.waitUntil(() => acknowledged.length > before + 20, { timeout: 30_000 });
    stop.abort();
    await writing;
    const stored: Head[] = [];
    for await (const batch of a.store.entries({ from: 1 })) {
      for (const { seq, hash } of batch) stored.push({ size: seq, hash });
    }
    const missing = acknowledged.filter(({ size, hash }) => !sameBytes(stored[size - 1]?.hash ?? EMPTY, hash));
    expect(missing).toEqual([]);
  });

  it('to a lagging asynchronous standby is detected before anything is written, and the longest replica completes it', async () => {
    const primary = await servers.create('p');
    await servers.pointTo(primary);
    const replicas = [new MemoryStore(), new MemoryStore()] as const;
    const a = await open(servers.url, replicas[0], 'a', ['a', 'b']);
    const b = await open(servers.url, replicas[1], 'b', ['a', 'b']);
    for (const store of [a.store, ...replicas]) await copyPrefix(history, store, 6);
    const standby = await primary.makeStandby('s');
    await standby.stop();
    await copyPrefix(history, a.store, 10);
    await copyPrefix(history, replicas[0], 10);
    await copyPrefix(history, replicas[1], 8);
    await primary.kill();
    await standby.start();
    await servers.pointTo(standby);
    // A standby that was not promoted counts as unavailable.
    await expect(b.store.head()).rejects.toMatchObject({
      problem: { code: expect.stringMatching(/unavailable|recover/) },
    });
    await standby.promote();
    await expectSame(b.store);
    await expectSame(a.store);
    expect(await b.store.append(makeCommit('demo', await history.head(), { n: 11 }))).toMatchObject({ ok: true });
  });

  it('to a new server with a restored dump is detected, and the replica completes it', async () => {
    const old = await servers.create('p');
    await servers.pointTo(old);
    const replica = new MemoryStore();
    const a = await open(servers.url, replica);
    for (const store of [a.store, replica]) await copyPrefix(history, store, 6);
    await old.dump(join(servers.folder, 'yesterday'));
    for (const store of [a.store, replica]) await copyPrefix(history, store, 10);
    await old.kill();
    const fresh = await servers.create('q');
    await fresh.restore(join(servers.folder, 'yesterday'));
    await servers.pointTo(fresh);
    await expectSame(a.store);
    expect(await a.store.inspect()).toEqual([]);
  });
});

it("to yesterday's data folder is detected, and the replica completes it", LONG, async () => {
  const server = await startPostgres();
  try {
    const replica = new MemoryStore();
    const a = await open(await server.createDatabase(), replica);
    for (const store of [a.store, replica]) await copyPrefix(history, store, 6);
    const [data, saved] = [join(server.socketFolder, 'data'), join(server.socketFolder, 'saved')];
    await server.kill();
    await promisify(execFile)('cp', ['-a', data, saved]);
    await server.restart();
    await expectHead(a.store, 6);
    for (const store of [a.store, replica]) await copyPrefix(history, store, 10);
    await server.kill();
    await rm(data, { recursive: true });
    await rename(saved, data);
    await server.restart();
    await expectHead(a.store, 10);
    expect(await compareWithReplica(a.store, history)).toBe('same');
    await a.close();
    hosts.length = 0;
  } finally {
    await server.stop();
  }
});

async function open(url: string, replica: Store, host = 'a', admitted: readonly string[] = ['a']): Promise<TestHost> {
  const opened = await openHost(url, 'demo', { host, replica, admitted });
  hosts.push(opened);
  return opened;
}

const EMPTY = new Uint8Array();

/** Appends as a daemon does: after a commit in doubt, it reads the head before the next one. */
async function appendUntil(signal: AbortSignal, store: Store, acknowledged: Head[]): Promise<void> {
  let head = await store.head();
  while (!signal.aborted) {
    const commit = makeCommit('demo', head, { n: acknowledged.length });
    const appended = await store.append(commit);
    if (appended.ok) acknowledged.push((head = headOf(commit)));
    else head = await store.head().catch(() => head);
  }
}

async function expectSame(store: Store): Promise<void> {
  await expectHead(store, 10);
  expect(await compareWithReplica(store, history)).toBe('same');
}

async function expectHead(store: Store, size: number): Promise<void> {
  await vi.waitUntil(
    () =>
      store.head().then(
        (head) => head.size === size,
        () => false,
      ),
    { timeout: 30_000 },
  );
}
