import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportLedger, verifyExport } from './verify/export.ts';
import { createKeyAddedDraft } from './verify/keyring.ts';
import { renderTaskProof, type TaskProof } from './verify/proof-text.ts';
import { makeTaskProof, verifyTaskProof } from './verify/task-proof.ts';
import { nodeVerifier } from './writer/keys.ts';
import {
  MemoryOutsideCopy,
  openTestLedger,
  record,
  testDraft,
  testOptions,
  testSigner,
} from './writer/ledger.cases.ts';
import type { Ledger } from './writer/ledger.ts';

describe('a task proof', () => {
  it('holds all entries of its task and nothing else, and is checked with the key alone', async () => {
    const proof = await proofOf(await ledgerWith(600), 'T002');
    expect(proof.entries).toHaveLength(300);
    const checked = await verifyTaskProof(nodeVerifier, renderTaskProof(proof), proof.key);
    expect(checked).toMatchObject({ ok: true, value: { taskId: 'T002', size: 601 } });
  });

  it('is refused for a task that the ledger does not know', async () => {
    const ledger = await ledgerWith(2);
    expect((await makeTaskProof(ledger.store, nodeVerifier, 'demo', 'T999')).ok).toBe(false);
  });

  it('does not hold with anything in it changed', async () => {
    const proof = await proofOf(await ledgerWith(12), 'T002');
    const text = JSON.stringify(proof);
    const letters = fc.constantFrom('0', 'a', 'Z', '"', ' ', '+', '1');
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), letters, async (at, letter) => {
        fc.pre(text[at] !== letter);
        const changed = `${text.slice(0, at)}${letter}${text.slice(at + 1)}`;
        expect((await verifyTaskProof(nodeVerifier, changed, proof.key)).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('is invalid with another key, a duplicate entry, or an entry of another task', async () => {
    const proof = await proofOf(await ledgerWith(12), 'T002');
    const other = await proofOf(await ledgerWith(12), 'T001');
    const [first] = proof.entries;
    const verify = (value: unknown, key?: string) => verifyTaskProof(nodeVerifier, JSON.stringify(value), key);
    expect((await verify(proof)).ok).toBe(true);
    expect((await verify(proof, `${proof.key}x`)).ok).toBe(false);
    expect((await verify({ ...proof, entries: [first, first] })).ok).toBe(false);
    expect((await verify({ ...proof, entries: other.entries })).ok).toBe(false);
    expect((await verify({ ...proof, entries: [] })).ok).toBe(false);
    expect((await verify({ ...proof, project: 'other' })).ok).toBe(false);
    expect((await verify(null)).ok).toBe(false);
  });
});

describe('an export', () => {
  it('is checked by another Baton', async () => {
    const lines = await exportOf(await ledgerWith(600));
    expect(lines).toHaveLength(602);
    const checked = await verifyExport(nodeVerifier, stream(lines));
    expect(checked).toMatchObject({ ok: true, value: { project: 'demo', size: 601 } });
    const [key = ''] = checked.ok ? checked.value.keys : [];
    expect((await verifyExport(nodeVerifier, stream(lines), key)).ok).toBe(true);
    expect((await verifyExport(nodeVerifier, stream(lines), `${key}x`)).ok).toBe(false);
  });

  it('is refused with a line missing, doubled, swapped or changed, and without its end', async () => {
    const lines = await exportOf(await ledgerWith(8));
    for (let i = 0; i < lines.length; i += 1) {
      const [before, line = '', after] = [lines.slice(0, i), lines[i], lines.slice(i + 1)];
      expect((await verifyExport(nodeVerifier, stream([...before, ...after]))).ok).toBe(false);
      expect((await verifyExport(nodeVerifier, stream([...before, line, line, ...after]))).ok).toBe(false);
      for (let at = 0; at < line.length; at += 7) {
        const changed = `${line.slice(0, at)}${line[at] === 'a' ? 'b' : 'a'}${line.slice(at + 1)}`;
        expect((await verifyExport(nodeVerifier, stream([...before, changed, ...after]))).ok).toBe(false);
      }
    }
    expect((await verifyExport(nodeVerifier, stream([]))).ok).toBe(false);
  });

  it('carries the checkpoints that make further keys trusted', async () => {
    const options = testOptions();
    const ledger = await openTestLedger(options);
    await record(ledger, [
      testDraft(1),
      createKeyAddedDraft(nodeVerifier.sha256, 'demo', testSigner(2), 'operator:ada'),
    ]);
    const guest = await openTestLedger({ ...options, signer: testSigner(2), outside: new MemoryOutsideCopy() });
    await record(guest, [testDraft(2)]);
    const lines = await exportOf(guest);
    expect(lines.filter((line) => line.startsWith('{"checkpoint"'))).toHaveLength(2);
    expect(await verifyExport(nodeVerifier, stream(lines))).toMatchObject({ ok: true, value: { size: 4 } });
  });
});

async function ledgerWith(count: number): Promise<Ledger> {
  const ledger = await openTestLedger();
  await record(
    ledger,
    Array.from({ length: count }, (_, i) => testDraft(i, i % 2 === 0 ? 'T001' : 'T002')),
  );
  return ledger;
}

async function proofOf(ledger: Ledger, taskId: string): Promise<TaskProof> {
  const proof = await makeTaskProof(ledger.store, nodeVerifier, 'demo', taskId);
  if (!proof.ok) throw new Error(proof.problems[0].message);
  return proof.value;
}

async function exportOf(ledger: Ledger): Promise<string[]> {
  let text = '';
  for await (const part of exportLedger(ledger.store, nodeVerifier, 'demo')) text += part;
  return text.trimEnd().split('\n');
}

async function* stream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
