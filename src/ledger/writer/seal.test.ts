import { describe, expect, it } from 'vitest';
import { toHex } from '../format/bytes.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import { verifyConsistency } from '../format/merkle.ts';
import { Tree } from '../format/tree.ts';
import { MemoryStore } from '../memory-store.ts';
import type { StoredEntry } from '../store.ts';
import { nodeSha256 } from './keys.ts';
import { openTestLedger, record, testDraft, testOptions } from './ledger.cases.ts';
import { findLastSeal, sealLedger } from './seal.ts';

describe('a seal', () => {
  it('states the tree of everything before it', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [testDraft(1)]);
    const sealed = await sealLedger(ledger, 'operator:ada');
    if (!sealed.ok) throw new Error(sealed.problem.message);
    expect(sealed).toMatchObject({ isNew: true, seal: { seq: 3, size: 2 } });
    const checkpoint = parseCheckpoint(sealed.seal.checkpoint);
    expect(checkpoint.ok && toHex(checkpoint.value.root)).toBe(sealed.seal.root);
    expect(await findLastSeal(ledger.store, ledger.head.size)).toEqual(sealed.seal);
  });

  it('is made once if only seals and audits follow it', async () => {
    const ledger = await openTestLedger();
    const first = await sealLedger(ledger, 'operator:ada');
    await record(ledger, [{ actor: 'session:s-1', type: 'AuditSessionStarted', data: {} }]);
    const again = await sealLedger(ledger, 'operator:ada');
    expect(again).toEqual({ ...first, isNew: false });
    await record(ledger, [testDraft(1)]);
    expect(await sealLedger(ledger, 'operator:ada')).toMatchObject({ ok: true, isNew: true });
  });

  it('is made by one caller at a time', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [testDraft(1)]);
    const [first, second] = await Promise.all([
      sealLedger(ledger, 'system:workflow'),
      sealLedger(ledger, 'operator:ada'),
    ]);
    expect(first).toMatchObject({ ok: true, isNew: true });
    expect(second).toMatchObject({
      ok: false,
      problem: { message: 'Merkle finalization in progress. Retry in 5s.' },
    });
    expect((await sealLedger(ledger, 'operator:ada')).ok).toBe(true);
  });

  it('is made although another daemon records at the same time', async () => {
    const options = testOptions();
    const here = await openTestLedger(options);
    const there = await openTestLedger(options);
    await record(there, [testDraft(1)]);
    expect(await sealLedger(here, 'operator:ada')).toMatchObject({ ok: true, seal: { size: 2 } });
  });

  it('is consistent with the one before it, however far away', async () => {
    const ledger = await openTestLedger();
    const first = await sealLedger(ledger, 'operator:ada');
    await record(
      ledger,
      Array.from({ length: 700 }, (_, i) => testDraft(i)),
    );
    expect(await findLastSeal(ledger.store, ledger.head.size)).toMatchObject({ size: 1 });
    const second = await sealLedger(ledger, 'operator:ada');
    if (!first.ok || !second.ok) throw new Error('sealing failed');
    const [a, b] = [first, second].map(({ seal }) => parseCheckpoint(seal.checkpoint));
    if (!a?.ok || !b?.ok) throw new Error('a checkpoint is unreadable');
    const tree = new Tree(ledger.store, nodeSha256, ledger.head.size);
    const proof = (await tree.findConsistencyProof(a.value.size, b.value.size)) ?? [];
    expect(verifyConsistency(nodeSha256, a.value, b.value, proof)).toBe(true);
  });

  it('is refused if entries since the last seal differ from the signed ones', async () => {
    for (const changed of [2, 5, 6, 9]) {
      const rows: StoredEntry[] = [];
      const ledger = await openTestLedger({ store: new MemoryStore({ entries: rows }) });
      await record(ledger, [testDraft(1), testDraft(2), testDraft(3)]);
      if (changed > 4) await sealLedger(ledger, 'operator:ada');
      await record(ledger, [testDraft(4), testDraft(5), testDraft(6), testDraft(7)]);
      const row = rows.find(({ seq }) => seq === changed);
      if (!row) throw new Error('there is such an entry');
      row.bytes[40] = (row.bytes[40] ?? 0) ^ 1;
      expect(await sealLedger(ledger, 'operator:ada')).toMatchObject({
        ok: false,
        problem: { code: 'ledger/wrong-hash' },
      });
      row.bytes[40] = (row.bytes[40] ?? 0) ^ 1;
      expect(await sealLedger(ledger, 'operator:ada')).toMatchObject({ ok: true, isNew: true });
    }
  });

  it('is refused if hashes before the last seal have changed', async () => {
    const rows: StoredEntry[] = [];
    const ledger = await openTestLedger({ store: new MemoryStore({ entries: rows }) });
    await record(ledger, [testDraft(1)]);
    await sealLedger(ledger, 'operator:ada');
    await record(ledger, [testDraft(2)]);
    const [first] = rows;
    if (first?.hash) first.hash[0] = (first.hash[0] ?? 0) ^ 1;
    expect(await sealLedger(ledger, 'operator:ada')).toMatchObject({
      ok: false,
      problem: { code: 'ledger/wrong-root' },
    });
  });

  it('names the entries before the last seal if those have changed, not the later ones', async () => {
    const rows: StoredEntry[] = [];
    const ledger = await openTestLedger({ store: new MemoryStore({ entries: rows }) });
    await record(ledger, [testDraft(1)]);
    await sealLedger(ledger, 'operator:ada');
    await record(ledger, [testDraft(2), testDraft(3)]);
    const [first] = rows;
    if (first?.hash) first.hash[0] = (first.hash[0] ?? 0) ^ 1;
    expect(await sealLedger(ledger, 'operator:ada')).toMatchObject({
      ok: false,
      problem: { message: 'the first 2 entries differ from the signed tree' },
    });
  });

  it('is refused if the checkpoint is that of another tree of the same size', async () => {
    const [store, other] = [new MemoryStore(), new MemoryStore()];
    const ledger = await openTestLedger({ store });
    await record(ledger, [testDraft(1)]);
    await record(await openTestLedger({ store: other }), [testDraft(2)]);
    store.findCheckpoint = async (size) => other.findCheckpoint(size);
    expect(await sealLedger(ledger, 'operator:ada')).toMatchObject({
      ok: false,
      problem: { code: 'ledger/wrong-root' },
    });
  });

  it('is not found if there is none', async () => {
    const ledger = await openTestLedger();
    expect(await findLastSeal(ledger.store, ledger.head.size)).toBeUndefined();
  });
});
