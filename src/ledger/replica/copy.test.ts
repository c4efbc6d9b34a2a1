import { describe, expect, it } from 'vitest';
import { toHex } from '../format/bytes.ts';
import { ledgerProblem } from '../format/limits.ts';
import { MemoryStore } from '../memory-store.ts';
import { storeTextBlob } from '../snapshots-and-blobs.ts';
import { all } from '../store.cases.ts';
import type { Appended, Commit, Store, StoredEntry } from '../store.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { openTestLedger, record, testDraft } from '../writer/ledger.cases.ts';
import { compareLedgers } from './compare.ts';
import { appendMissing, copyLedger } from './copy.ts';
import { contentOf, drafts } from './replica.cases.ts';

const options = { sha256: nodeSha256 };

describe('a copy of a ledger', () => {
  it('has the same entries, notes, tiles, blobs and root', async () => {
    const { store, root } = await recorded();
    const copy = new MemoryStore();
    const copied = await copyLedger(store, copy, options);
    expect(copied.ok && [copied.entries, toHex(copied.root)]).toEqual([(await store.head()).size, root]);
    expect(await contentOf(copy)).toEqual(await contentOf(store));
    expect(await all(copy.blobs())).toEqual(await all(store.blobs()));
    expect(await compareLedgers(store, copy)).toBeUndefined();
    expect(await verifyLedger(copy, { project: 'demo', verifier: nodeVerifier, allSignatures: true })).toMatchObject({
      ok: true,
    });
  });

  it('is continued after it was interrupted, at any commit', async () => {
    const { store, root } = await recorded();
    const copy = new InterruptedStore();
    const answers: string[] = [];
    while (answers.at(-1) !== root && answers.length < 100) {
      copy.left = 1;
      const copied = await copyLedger(store, copy, options);
      answers.push(copied.ok ? toHex(copied.root) : copied.problem.code);
    }
    expect(new Set(answers)).toEqual(new Set(['ledger/unavailable', root]));
    expect(answers.length).toBeGreaterThan(2);
    expect(await contentOf(copy)).toEqual(await contentOf(store));
    expect(await copyLedger(store, copy, options)).toMatchObject({ ok: true, entries: 0 });
  });

  it('is refused if the target has another ledger, or more of this one', async () => {
    const { store } = await recorded();
    const other = await openTestLedger();
    await record(other, [testDraft(99)]);
    const refusal = { ok: false, problem: { code: 'ledger/forked' } };
    expect(await copyLedger(store, other.store, options)).toMatchObject(refusal);
    const copy = new MemoryStore();
    await copyLedger(store, copy, options);
    await record(await openTestLedger({ store: copy }), [testDraft(1)]);
    expect(await copyLedger(store, copy, options)).toMatchObject(refusal);
  });

  it('is refused if the target accepts no commit on the head that was compared', async () => {
    const { store } = await recorded();
    const target = new MemoryStore();
    const conflict = await target.head();
    target.append = async () => Promise.resolve({ ok: false, conflict });
    const progress: number[] = [];
    const copied = await copyLedger(store, target, { ...options, onProgress: (entries) => progress.push(entries) });
    expect(copied).toMatchObject({ ok: false, problem: { code: 'ledger/forked' } });
    expect(progress).toEqual([]);
  });

  it('is refused if an entry, a note or a blob of the source is not what was recorded', async () => {
    const damages: ((rows: StoredEntry[], store: MemoryStore) => unknown)[] = [
      (rows) => change(rows[40]?.bytes),
      (rows) => change(rows[40]?.hash),
      (rows) => rows.splice(40, 1),
      (rows) => rows.splice(-1, 1, { ...row(rows.at(-1)), note: rows[0]?.note }),
      (_rows, store) => store.putBlob(nodeSha256(new Uint8Array(3)), new Uint8Array(2)),
    ];
    for (const damage of damages) {
      const rows: StoredEntry[] = [];
      const store = new MemoryStore({ entries: rows });
      const ledger = await openTestLedger({ store });
      await record(ledger, drafts(50));
      await damage(rows, store);
      expect(await copyLedger(store, new MemoryStore(), options)).toMatchObject({
        ok: false,
        problem: { code: 'ledger/damaged' },
      });
    }
  });
});

describe('what a shared ledger has lost', () => {
  it('is put back from a replica, with its blobs', async () => {
    const rows: StoredEntry[] = [];
    const shared = new MemoryStore({ entries: rows });
    const ledger = await openTestLedger({ store: shared });
    for (let i = 0; i < 20; i += 1) await record(ledger, drafts(5, i));
    const blob = await storeTextBlob(shared, nodeSha256, 'the end of a log');
    const log_blob = blob.ok ? blob.value : '';
    await record(ledger, [{ actor: 'session:s', type: 'CommandFinished', data: { log_blob } }]);
    const replica = new MemoryStore();
    await copyLedger(shared, replica, options);
    const before = await contentOf(shared);
    const restored = new MemoryStore({ entries: rows.slice(0, 31) });
    expect(await appendMissing(restored, replica, options)).toMatchObject({ ok: true, entries: 71 });
    expect(await contentOf(restored)).toEqual(before);
    expect((await verifyLedger(restored, { project: 'demo', verifier: nodeVerifier })).ok).toBe(true);
    expect(await appendMissing(restored, replica, options)).toMatchObject({ ok: true, entries: 0 });
  });

  it('is put back once even if two hosts try at the same time', async () => {
    const { store } = await recorded();
    const [one, two, restored] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
    for (const replica of [one, two]) await copyLedger(store, replica, options);
    const answers = await Promise.all([one, two].map((replica) => appendMissing(restored, replica, options)));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
    expect(await contentOf(restored)).toEqual(await contentOf(store));
  });
});

describe('two ledgers', () => {
  it('are compared up to the first entry that differs', async () => {
    const { store } = await recorded();
    const copy = new MemoryStore();
    await copyLedger(store, copy, options);
    const { size } = await store.head();
    const [here, there] = [await openTestLedger({ store }), await openTestLedger({ store: copy })];
    await record(there, drafts(4));
    expect(await compareLedgers(store, copy)).toMatchObject({
      at: size + 1,
      left: undefined,
      right: { seq: size + 1 },
    });
    await record(here, drafts(9, 50));
    expect(await compareLedgers(store, copy)).toMatchObject({ at: size + 1, left: { seq: size + 1 } });
  });
});

async function recorded(): Promise<{ store: Store; root: string }> {
  const ledger = await openTestLedger();
  await storeTextBlob(ledger.store, nodeSha256, 'a log');
  for (let i = 0; i < 40; i += 1) await record(ledger, drafts(1 + (i % 7), i));
  for (let i = 0; i < 3; i += 1) await record(ledger, drafts(1000, i));
  const verified = await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier });
  return { store: ledger.store, root: verified.ok ? toHex(verified.root) : '' };
}

function change(bytes: Uint8Array | undefined): void {
  if (bytes) bytes[9] = (bytes[9] ?? 0) ^ 1;
}

function row(found: StoredEntry | undefined): StoredEntry {
  if (!found) throw new Error('there is such an entry');
  return found;
}

/** A store that becomes unavailable after some commits. */
class InterruptedStore extends MemoryStore {
  left = 0;

  override async append(commit: Commit): Promise<Appended> {
    this.left -= 1;
    return this.left < 0
      ? { ok: false, problem: ledgerProblem('ledger/unavailable', 'no answer', 'Try again.') }
      : super.append(commit);
  }
}
