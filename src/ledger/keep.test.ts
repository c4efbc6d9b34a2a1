import { describe, expect, it } from 'vitest';
import { blobsNamedIn } from './blob.ts';
import { findBlob, findSnapshot, keepBlob, keepSnapshot, keepText } from './keep.ts';
import { openTestLedger, record, testDraft } from './ledger.cases.ts';
import { LIMITS } from './limits.ts';
import { MemoryStore } from './memory.ts';
import { sha256 } from './node-crypto.ts';

describe('a blob', () => {
  it('is kept under a name that an entry can hold', async () => {
    const store = new MemoryStore();
    const name = await keepBlob(store, sha256, Buffer.from('a long log'));
    if (!name.ok) throw new Error(name.problems[0].message);
    expect(name.value).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(Buffer.from((await findBlob(store, sha256, name.value)) ?? []).toString()).toBe('a long log');
    expect(blobsNamedIn({ list: [{ log_blob: name.value }], blob: name.value, note: name.value })).toHaveLength(2);
  });

  it('of text loses its credentials', async () => {
    const store = new MemoryStore();
    const name = await keepText(store, sha256, `clone with glpat-${'x1'.repeat(12)} \ud800`);
    const kept = name.ok ? await findBlob(store, sha256, name.value) : undefined;
    expect(new TextDecoder().decode(kept)).toBe('clone with [redacted:gitlab-token] \ufffd');
  });

  it('is not found under a wrong name, or when it has changed', async () => {
    const store = new MemoryStore();
    const bytes = Buffer.from('content');
    const name = await keepBlob(store, sha256, bytes);
    expect(await findBlob(store, sha256, 'sha256:abc')).toBeUndefined();
    bytes[0] = 0;
    expect(await findBlob(store, sha256, name.ok ? name.value : '')).toBeUndefined();
  });

  it('has a limit', async () => {
    const large = new Uint8Array(LIMITS.blobBytes + 1);
    expect(await keepBlob(new MemoryStore(), sha256, large)).toMatchObject({ ok: false });
  });
});

describe('a snapshot', () => {
  it('is found again with the entry that it stands on, and the newest one wins', async () => {
    const ledger = await openTestLedger();
    await keepSnapshot(ledger.store, sha256, 'tasks', ledger.head, Buffer.from('old'));
    await record(ledger, [testDraft(1)]);
    await keepSnapshot(ledger.store, sha256, 'tasks', ledger.head, Buffer.from('new'));
    const found = await findSnapshot(ledger.store, sha256, 'tasks');
    expect(Buffer.from(found?.state ?? []).toString()).toBe('new');
    expect(found?.head).toEqual(ledger.head);
    expect(await findSnapshot(ledger.store, sha256, 'claims')).toBeUndefined();
  });

  it('is none where its entry is another one, or a byte has changed', async () => {
    const ledger = await openTestLedger();
    await keepSnapshot(ledger.store, sha256, 'tasks', { size: 1, hash: sha256(Buffer.of(1)) }, Buffer.from('state'));
    expect(await findSnapshot(ledger.store, sha256, 'tasks')).toBeUndefined();
    await keepSnapshot(ledger.store, sha256, 'tasks', { ...ledger.head, size: 9 }, Buffer.from('state'));
    expect(await findSnapshot(ledger.store, sha256, 'tasks')).toBeUndefined();
    await keepSnapshot(ledger.store, sha256, 'tasks', ledger.head, Buffer.from('state'));
    const snapshot = await ledger.store.findSnapshot('tasks');
    if (!snapshot) throw new Error('the snapshot is gone');
    await ledger.store.saveSnapshot('other', snapshot);
    expect(await findSnapshot(ledger.store, sha256, 'other')).toBeUndefined();
    snapshot.bytes[40 % snapshot.bytes.length] = 0xff;
    expect(await findSnapshot(ledger.store, sha256, 'tasks')).toBeUndefined();
  });
});
