import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts';
import { toHex } from '../format/bytes.ts';
import { MemoryStore } from '../memory-store.ts';
import { TestFolder } from '../sqlite/sqlite.cases.ts';
import type { Store } from '../store.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { type LedgerPlace, NO_OUTSIDE_COPY } from '../writer/ledger-files.ts';
import { openTestLedger, record, testDraft, testOptions, testSigner } from '../writer/ledger.cases.ts';
import { openLedger } from '../writer/open.ts';
import { copyLedger } from './copy.ts';
import { openReplica, type OpenedReplica } from './open-replica.ts';
import { detachReplica } from './replica-mark.ts';
import { contentOf, drafts } from './replica.cases.ts';
import { makeReplicatedStore } from './replicated-store.ts';

/** A part of the third entry, which may also occur in unused pages of the file. */
const OLD = 'Schritt 2 ';
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.stop();
});

describe('the file of a replica', () => {
  it('is checked, and set aside if it is damaged; a new one is filled from the shared store', async () => {
    using folder = new TestFolder();
    const shared = new MemoryStore();
    await recordSome(folder, shared);
    const { size } = statSync(folder.ledger);
    const bytes = readFileSync(folder.ledger);
    const damages: Record<string, () => void> = {
      'no database': () => writeFileSync(folder.ledger, 'x'.repeat(size)),
      'pages of zeros at its end': () =>
        writeFileSync(folder.ledger, Buffer.concat([bytes.subarray(0, size / 2), Buffer.alloc(size / 2)])),
      truncated: () => writeFileSync(folder.ledger, bytes.subarray(0, size / 2)),
    };
    let aside = 0;
    for (const [name, damage] of Object.entries(damages)) {
      damage();
      const opened = await open(folder);
      aside += 1;
      expect({ name, ...opened.setAside }).toMatchObject({
        name,
        problem: { code: expect.stringMatching(/^ledger\//) },
      });
      expect(readdirSync(folder.path).filter((file) => /damaged(-\d)?$/.test(file))).toHaveLength(aside);
      const ledger = await openTestLedger({ store: makeReplicatedStore(shared, opened.store) });
      expect(await contentOf(opened.store)).toBe(await contentOf(shared));
      await ledger.close();
    }
    const intact = await open(folder);
    expect(intact.setAside).toBeUndefined();
    await intact.store.close();
  });

  it('is checked as a whole if the machine was restarted before it was closed', async () => {
    using folder = new TestFolder();
    const shared = new MemoryStore();
    await recordSome(folder, shared);
    expect(existsSync(`${folder.ledger}.unsynced`)).toBe(false);
    const bytes = readFileSync(folder.ledger);
    // Changes a byte in an old entry, which a check of the end does not find.
    for (let at = bytes.indexOf(OLD); at >= 0; at = bytes.indexOf(OLD)) bytes[at] = 0x41;
    writeFileSync(folder.ledger, bytes);
    const near = await open(folder);
    expect(near.setAside).toBeUndefined();
    await near.store.close();
    writeFileSync(`${folder.ledger}.unsynced`, 'another boot');
    const whole = await open(folder);
    expect(whole.setAside).toMatchObject({ problem: { code: 'ledger/wrong-hash' } });
    await whole.store.close();
  });

  it('is not opened as a ledger of its own, before it is detached', async () => {
    using folder = new TestFolder();
    const shared = new MemoryStore();
    await recordSome(folder, shared);
    const store = folder.openStore('write');
    const own = testOptions({ store, outside: NO_OUTSIDE_COPY });
    expect(await openLedger(own)).toMatchObject({ ok: false, problem: { code: 'ledger/replica' } });
    await detachReplica(store);
    const opened = await openLedger(own);
    expect(opened).toMatchObject({ ok: true, ledger: { head: { size: 1101 } } });
    if (opened.ok) await opened.ledger.close();
  });
});

it('a ledger moves from SQLite to PostgreSQL and back, and its root stays', async () => {
  using folder = new TestFolder();
  using back = new TestFolder();
  const ledger = await folder.open();
  await ledger.store.putBlob(nodeSha256(Buffer.from('a log')), Buffer.from('a log'));
  for (let i = 0; i < 50; i += 1) await record(ledger, drafts(1 + (i % 9), i));
  await record(ledger, drafts(1500));
  const before = await contentOf(ledger.store);
  const root = await rootOf(ledger.store);
  const shared = await requireStore({ url: await server.createDatabase(), project: 'demo' });
  const there = await copyLedger(ledger.store, shared, { sha256: nodeSha256 });
  expect(there.ok && toHex(there.root)).toBe(root);
  expect(await contentOf(shared)).toBe(before);
  expect(await rootOf(shared)).toBe(root);
  const local = back.openStore('write');
  const home = await copyLedger(shared, local, { sha256: nodeSha256 });
  expect(home.ok && toHex(home.root)).toBe(root);
  expect(await contentOf(local)).toBe(before);
  expect(await rootOf(local)).toBe(root);
  for (const store of [ledger.store, shared, local]) await store.close();
});

async function recordSome(folder: TestFolder, shared: Store): Promise<void> {
  const { store } = await open(folder);
  const ledger = await openTestLedger({ store: makeReplicatedStore(shared, store) });
  await record(ledger, drafts(1000));
  for (let i = 0; i < 100; i += 1) await record(ledger, [testDraft(2000 + i)]);
  await ledger.close();
}

async function open({ path, ledger, outside }: TestFolder): Promise<Extract<OpenedReplica, { ok: true }>> {
  const place: LedgerPlace = { project: 'demo', ledger, outside, key: `${path}/key.pem` };
  const opened = await openReplica(place, { verifier: nodeVerifier, signer: testSigner() });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened;
}

async function rootOf(store: Store): Promise<string> {
  const verified = await verifyLedger(store, { project: 'demo', verifier: nodeVerifier, allSignatures: true });
  return verified.ok ? toHex(verified.root) : verified.findings[0].problem.message;
}
