import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../memory-store.ts';
import { revocationOf } from '../replica/replica.cases.ts';
import type { StoredEntry } from '../store.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import {
  MemoryOutsideCopy,
  openTestLedger,
  record,
  testDraft,
  testOptions,
  testSigner,
} from '../writer/ledger.cases.ts';
import { openLedger } from '../writer/open.ts';
import { exportLedger, verifyExport } from './export.ts';
import { createKeyAddedDraft, renderProjectKey } from './keyring.ts';
import { renderTaskProof } from './proof-text.ts';
import { makeTaskProof, verifyTaskProof } from './task-proof.ts';
import { verifyLedger } from './verify-ledger.ts';

const common = { project: 'demo', verifier: nodeVerifier, allSignatures: true };

describe('a revoked key', () => {
  it('signs its own revocation last', async () => {
    const { store, first, second } = await twoKeys();
    await record(second, [revocationOf(2), testDraft(1)]);
    expect(await second.append([testDraft(2)])).toMatchObject({ problem: { code: 'ledger/key-not-trusted' } });
    expect(await first.catchUp()).toBeUndefined();
    await record(first, [testDraft(3)]);
    expect(await verifyLedger(store, common)).toMatchObject({ ok: true, keys: [keyOf(1)] });
  });

  it('can be added again', async () => {
    const { store, first } = await twoKeys();
    await record(first, [revocationOf(2)]);
    await record(first, [createKeyAddedDraft(nodeSha256, 'demo', testSigner(2), 'operator:ada')]);
    const again = await openTestLedger({ store, signer: testSigner(2) });
    await record(again, [testDraft(1)]);
    expect(await verifyLedger(store, common)).toMatchObject({ ok: true, keys: [keyOf(1), keyOf(2)] });
  });

  it('stays trusted if it is the last', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [revocationOf(1)]);
    await record(ledger, [testDraft(1)]);
    expect(await verifyLedger(ledger.store, common)).toMatchObject({ ok: true, keys: [keyOf(1)] });
  });

  it('is known to a ledger that was opened near its end, after a walk of the whole', async () => {
    const { store, first, second, outside } = await twoKeys();
    const near = await openTestLedger({ store, outside: new MemoryOutsideCopy(outside) });
    await record(second, [testDraft(1)]);
    await first.catchUp();
    await record(first, [revocationOf(2)]);
    expect(await near.catchUp()).toBeUndefined();
    expect(near.snapshotTrust.keys).toHaveLength(1);
    await second.catchUp();
    const there = await openLedger(testOptions({ store, signer: testSigner(2) }));
    expect(there).toMatchObject({ ok: false, problem: { code: 'ledger/key-not-trusted' } });
  });

  it('is followed by exports and task proofs', async () => {
    const { store, first, second } = await twoKeys();
    await record(second, [testDraft(1)]);
    await first.catchUp();
    const before = await makeTaskProof(store, nodeVerifier, 'demo', 'T001');
    expect(before).toMatchObject({ ok: true, value: { key: keyOf(2) } });
    await record(first, [revocationOf(2)]);
    await record(first, [testDraft(2)]);
    const proof = await makeTaskProof(store, nodeVerifier, 'demo', 'T001');
    expect(proof).toMatchObject({ ok: true, value: { key: keyOf(1) } });
    expect((await verifyTaskProof(nodeVerifier, proof.ok ? renderTaskProof(proof.value) : '', keyOf(1))).ok).toBe(true);
    const lines: string[] = [];
    for await (const text of exportLedger(store, nodeVerifier, 'demo')) lines.push(...text.trimEnd().split('\n'));
    // Checkpoints follow the added key and the revoked one, and end the export.
    expect(lines.filter((line) => line.startsWith('{"checkpoint"'))).toHaveLength(3);
    expect(await verifyExport(nodeVerifier, inOrder(lines))).toMatchObject({ ok: true, value: { keys: [keyOf(1)] } });
    expect(await verifyExport(nodeVerifier, inOrder(lines), keyOf(2))).toMatchObject({ ok: false });
  });
});

describe('an outside checkpoint signed by another machine', () => {
  it('counts as well: a rollback by the other writer is noticed', async () => {
    const { rows, first, second } = await twoKeys();
    await record(second, [testDraft(1), testDraft(2)]);
    await first.catchUp();
    // The outside copy of the first machine, which ends with the second machine's checkpoint.
    const outside = new MemoryOutsideCopy((await first.store.findCheckpoint())?.note);
    const open = (entries: StoredEntry[]) => openLedger(testOptions({ store: new MemoryStore({ entries }), outside }));
    expect(await open([...rows])).toMatchObject({ ok: true });
    expect(await open(rows.slice(0, 2))).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
    // The ledger has even lost the entry that added the second machine's key.
    expect(await open(rows.slice(0, 1))).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
    const forked = rows.slice(0, 2);
    await record(await openTestLedger({ store: new MemoryStore({ entries: forked }) }), [testDraft(8), testDraft(9)]);
    expect(await open(forked)).toMatchObject({ ok: false, problem: { code: 'ledger/forked' } });
  });
});

async function twoKeys() {
  const rows: StoredEntry[] = [];
  const store = new MemoryStore({ entries: rows });
  const options = testOptions({ store });
  const first = await openTestLedger(options);
  await record(first, [createKeyAddedDraft(nodeSha256, 'demo', testSigner(2), 'operator:ada')]);
  const outside = (await store.findCheckpoint())?.note;
  const second = await openTestLedger({ store, signer: testSigner(2) });
  return { rows, store, first, second, outside };
}

function keyOf(key: number): string {
  return renderProjectKey(nodeSha256, 'demo', testSigner(key).publicKey);
}

async function* inOrder(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
