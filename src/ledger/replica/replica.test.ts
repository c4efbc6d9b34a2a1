import { describe, expect, it, vi } from 'vitest';
import { ledgerProblem } from '../format/limits.ts';
import { MemoryStore, type MemoryRows } from '../memory-store.ts';
import { signSnapshot, storeTextBlob } from '../snapshots-and-blobs.ts';
import { describeStore } from '../store.cases.ts';
import type { Appended, Commit, Head, NewerEntries, Store } from '../store.ts';
import { createKeyAddedDraft } from '../verify/keyring.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { NO_OUTSIDE_COPY } from '../writer/ledger-files.ts';
import { openTestLedger, record, testDraft, testOptions, testSigner } from '../writer/ledger.cases.ts';
import type { Ledger, LedgerOptions } from '../writer/ledger.ts';
import { openLedger } from '../writer/open.ts';
import { compareWithReplica } from './compare.ts';
import { REPLICA_MARK } from './replica-mark.ts';
import { contentOf, drafts, revocationOf } from './replica.cases.ts';
import { makeReplicatedStore } from './replicated-store.ts';

describeStore('replicated', async () => {
  const [shared, replica] = [new MemoryStore(), new MemoryStore()];
  const store = makeReplicatedStore(shared, replica);
  let commits = 0;
  /** Copies only the first commit to the replica, as if a later write had failed. */
  const append = async (commit: Commit): Promise<Appended> => {
    const appended = await store.append(commit);
    commits += 1;
    if (appended.ok && commits === 1) await replica.append(commit);
    return appended;
  };
  return { open: async () => ({ ...store, append }), remove: async () => {} };
});

describe('the replica of a ledger', () => {
  it('has every commit of this host and of others, with notes and tiles', async () => {
    const shared = new MemoryStore();
    const [here, there] = await openHosts(shared);
    await record(here.ledger, drafts(300));
    expect(await there.ledger.catchUp()).toBeUndefined();
    for (let i = 0; i < 5; i += 1) await record(there.ledger, [testDraft(i)]);
    expect(await here.ledger.append([testDraft(1)])).toMatchObject({ ok: false, conflict: { size: 307 } });
    for (const { ledger, replica } of [here, there]) {
      await ledger.close();
      expect(await contentOf(replica)).toEqual(await contentOf(shared));
      const verified = await verifyLedger(replica, { project: 'demo', verifier: nodeVerifier, allSignatures: true });
      expect(verified).toMatchObject({ ok: true, size: 307 });
    }
  });

  it('never fails a commit, and catches up after a failure', async () => {
    const shared = new MemoryStore();
    const replica = new FailingStore();
    const ledger = await openTestLedger({ store: makeReplicatedStore(shared, replica) });
    await vi.waitUntil(async () => (await replica.head()).size === 1);
    replica.isFull = true;
    for (let i = 0; i < 3; i += 1) await record(ledger, [testDraft(i)]);
    await vi.waitUntil(() => ledger.replicaProblem !== undefined);
    expect(ledger.replicaProblem).toMatchObject({ code: 'ledger/disk-full' });
    expect((await replica.head()).size).toBe(1);
    replica.isFull = false;
    await record(ledger, drafts(300));
    await ledger.close();
    expect(ledger.replicaProblem).toBeUndefined();
    expect(await contentOf(replica)).toEqual(await contentOf(shared));
  });

  it('is where the next start begins to verify', async () => {
    const shared = new CountingStore();
    const replica = new CountingStore();
    const store = makeReplicatedStore(shared, replica);
    const ledger = await openTestLedger({ store });
    for (let i = 0; i < 30; i += 1) await record(ledger, drafts(100));
    await ledger.close();
    shared.read = 0;
    replica.read = 0;
    const again = await openTestLedger({ store });
    expect(again.head).toEqual(ledger.head);
    expect(shared.read).toBe(0);
    expect(replica.read).toBeLessThanOrEqual(1000);
    await record(again, [testDraft(1)]);
    await again.close();
    expect(await contentOf(replica)).toEqual(await contentOf(shared));
  });

  it('is read as a whole if this machine has not signed its mark', async () => {
    const { shared, replica, store } = await recorded(300);
    const snapshot = await replica.findSnapshot(REPLICA_MARK);
    const head = await replica.head();
    const by = { sha256: nodeSha256, project: 'demo', signer: testSigner(9) };
    const state = new TextEncoder().encode(JSON.stringify({ root: '', keys: [] }));
    for (const forged of [undefined, signSnapshot(by, REPLICA_MARK, head, state)]) {
      if (forged) await replica.saveSnapshot(REPLICA_MARK, forged);
      else await replica.dropSnapshot(REPLICA_MARK);
      const again = await openTestLedger({ store });
      await record(again, [testDraft(1)]);
      await again.close();
      expect((await replica.findSnapshot(REPLICA_MARK))?.size).toBeGreaterThan(snapshot?.size ?? 0);
      expect(await contentOf(replica)).toEqual(await contentOf(shared));
    }
  });

  it('keeps the blobs that this host has stored or read', async () => {
    const shared = new MemoryStore();
    const [here, there] = [new MemoryStore(), new MemoryStore()];
    const bytes = new TextEncoder().encode('a log');
    const hash = nodeSha256(bytes);
    await makeReplicatedStore(shared, here).putBlob(hash, bytes);
    expect(await here.findBlob(hash)).toEqual(bytes);
    expect(await there.findBlob(hash)).toBeUndefined();
    expect(await makeReplicatedStore(shared, there).findBlob(hash)).toEqual(bytes);
    expect(await there.findBlob(hash)).toEqual(bytes);
  });
});

describe('verify of a replica', () => {
  it('reports blobs that only the shared store has, and requires no outside checkpoint', async () => {
    const shared = new MemoryStore();
    const [here, there] = await openHosts(shared);
    const blob = await storeTextBlob(there.ledger.store, nodeSha256, 'the end of a log');
    const log_blob = blob.ok ? blob.value : '';
    await record(there.ledger, [{ actor: 'session:s', type: 'CommandFinished', data: { log_blob } }]);
    await here.ledger.catchUp();
    for (const { ledger } of [here, there]) await ledger.close();
    const options = { project: 'demo', verifier: nodeVerifier, outside: null };
    expect(await verifyLedger(there.replica, options)).toMatchObject({ ok: true, warnings: [] });
    const verified = await verifyLedger(here.replica, options);
    expect(verified).toMatchObject({
      ok: true,
      warnings: [expect.stringMatching(/^1 blobs are only in the shared store/)],
    });
    expect(await verifyLedger(shared, { ...options, outside: undefined })).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('a shared ledger that lost its end', () => {
  it('is not opened, and its loss has a name', async () => {
    const { rows, replica, options } = await recorded(300);
    const size = rows.entries.length;
    expect(await compareWithReplica(new MemoryStore(rows), replica)).toBe('same');
    rows.entries.splice(size - 100);
    const behind = { kind: 'behind', size: size - 100, replicaSize: size };
    expect(await compareWithReplica(new MemoryStore(rows), replica)).toEqual(behind);
    expect(await openLedger(options())).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
    rows.entries.splice(0);
    expect(await openLedger(options())).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
  });

  it('is not opened even after others have written more', async () => {
    const { rows, replica, options } = await recorded(300);
    rows.entries.splice(251);
    rows.tiles.splice(0);
    const other = await openTestLedger({ store: new MemoryStore(rows) });
    for (const count of [20, 100]) {
      await record(other, drafts(count, 1000));
      expect(await compareWithReplica(new MemoryStore(rows), replica)).toEqual({ kind: 'forked', at: 252 });
      expect(await openLedger(options())).toMatchObject({ ok: false, problem: { code: 'ledger/forked' } });
    }
  });

  it('stops a ledger that is open', async () => {
    const { rows, ledger } = await recorded(20, { keepsOpen: true });
    rows.entries.splice(10);
    expect(await ledger.catchUp()).toMatchObject({ code: 'ledger/rolled-back' });
    expect(await ledger.append([testDraft(1)])).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
  });
});

describe('a host whose key is revoked', () => {
  it('records nothing more, and is not opened again; what it signed stays valid', async () => {
    const shared = new MemoryStore();
    const [here, there] = await openHosts(shared);
    await record(there.ledger, [testDraft(1)]);
    await here.ledger.catchUp();
    await record(here.ledger, [revocationOf(2)]);
    expect(await there.ledger.append([testDraft(2)])).toMatchObject({ problem: { code: 'ledger/key-not-trusted' } });
    expect(await openLedger(there.options)).toMatchObject({ ok: false, problem: { code: 'ledger/key-not-trusted' } });
    await record(here.ledger, [testDraft(3)]);
    const verified = await verifyLedger(shared, { project: 'demo', verifier: nodeVerifier, allSignatures: true });
    expect(verified).toMatchObject({ ok: true, size: 5 });
    expect(verified.ok && verified.keys).toHaveLength(1);
  });

  it('is refused by the others if it still writes', async () => {
    const shared = new MemoryStore();
    const [here, there] = await openHosts(shared);
    await record(here.ledger, [revocationOf(2)]);
    // Simulates a program that ignores the revocation: it opens the ledger with another host's key and signs with its
    // own.
    let signer = testSigner(1);
    const liar = await openTestLedger({
      store: shared,
      signer: {
        get publicKey() {
          return signer.publicKey;
        },
        sign: (bytes) => signer.sign(bytes),
      },
    });
    signer = testSigner(2);
    await liar.append([testDraft(1)]);
    expect(await here.ledger.catchUp()).toMatchObject({ code: 'ledger/wrong-signature' });
    expect(await there.ledger.catchUp()).toMatchObject({ code: 'ledger/wrong-signature' });
  });
});

async function openHosts(shared: Store) {
  const hosts = [host(shared, 1), host(shared, 2)] as const;
  const first = await openTestLedger(hosts[0].options);
  await record(first, [createKeyAddedDraft(nodeSha256, 'demo', testSigner(2), 'operator:ada')]);
  const second = await openTestLedger(hosts[1].options);
  return [
    { ...hosts[0], ledger: first },
    { ...hosts[1], ledger: second },
  ] as const;
}

function host(shared: Store, key: number) {
  const replica = new MemoryStore();
  const store = makeReplicatedStore(shared, replica);
  return { replica, options: testOptions({ store, signer: testSigner(key), outside: NO_OUTSIDE_COPY }) };
}

interface Recorded {
  readonly rows: MemoryRows;
  readonly shared: Store;
  readonly replica: MemoryStore;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly options: () => LedgerOptions;
}

async function recorded(count: number, { keepsOpen = false } = {}): Promise<Recorded> {
  const rows: MemoryRows = { entries: [], tiles: [] };
  const shared = new MemoryStore(rows);
  const replica = new MemoryStore();
  const store = makeReplicatedStore(shared, replica);
  const ledger = await openTestLedger({ store });
  for (let i = 0; i < count; i += 5) await record(ledger, drafts(5, i));
  if (!keepsOpen) await ledger.close();
  const options = () => testOptions({ store: makeReplicatedStore(new MemoryStore(rows), replica) });
  return { rows, shared, replica, store, ledger, options };
}

class FailingStore extends MemoryStore {
  isFull = false;

  override async append(commit: Commit): Promise<Appended> {
    return this.isFull
      ? { ok: false, problem: ledgerProblem('ledger/disk-full', 'no space left', 'Make room.') }
      : super.append(commit);
  }
}

/** Counts the entries that are read from it. */
class CountingStore extends MemoryStore {
  read = 0;

  override async newer(head: Head): Promise<NewerEntries | undefined> {
    const news = await super.newer(head);
    this.read += news?.entries.length ?? 0;
    return news;
  }

  override async *entries(range: { from: number; to?: number }) {
    for await (const batch of super.entries(range)) {
      this.read += batch.length;
      yield batch;
    }
  }
}
