import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../memory-store.ts';
import { nodeVerifier } from '../writer/keys.ts';
import { openTestLedger, record, testDraft, testOptions, testSigner } from '../writer/ledger.cases.ts';
import { verifyLedger } from './verify-ledger.ts';

const common = { project: 'demo', verifier: nodeVerifier };

describe('verify and the outside checkpoint', () => {
  it('accepts any copy of a prefix', async () => {
    const { store, notes } = await ledgerWithNotes();
    for (const outside of notes) {
      expect(await verifyLedger(store, { ...common, outside })).toMatchObject({ ok: true, warnings: [] });
    }
  });

  it('counts a torn copy as missing, with a warning', async () => {
    const { store, notes } = await ledgerWithNotes();
    const [older = '', newer = ''] = notes.slice(-2);
    for (let at = 0; at < newer.length; at += 1) {
      for (const outside of [newer.slice(0, at), newer.slice(0, at) + older.slice(at)]) {
        const verified = await verifyLedger(store, { ...common, outside });
        expect(verified.ok).toBe(true);
        expect(verified.ok && ([older, newer].includes(outside) || verified.warnings.length === 1)).toBe(true);
      }
    }
  });

  it('reports a fault if a trusted key has signed the copy', async () => {
    const { store, notes } = await ledgerWithNotes();
    const other = await ledgerWithNotes(9);
    const forked = await verifyLedger(store, { ...common, outside: other.notes.at(-1) });
    expect(forked).toMatchObject({ ok: false, findings: [{ seq: 4, problem: { code: 'ledger/forked' } }] });
    const shorter = await openTestLedger();
    const cut = await verifyLedger(shorter.store, { ...common, outside: notes.at(-1) });
    expect(cut).toMatchObject({ ok: false, findings: [{ seq: 2, problem: { code: 'ledger/rolled-back' } }] });
  });
});

describe('verify with a key from another source', () => {
  it('finds a completely forged ledger', async () => {
    const { store } = await ledgerWithNotes();
    const known = { name: 'baton/demo', publicKey: testSigner().publicKey };
    expect((await verifyLedger(store, { ...common, knownKey: known })).ok).toBe(true);
    const stranger = { ...known, publicKey: testSigner(2).publicKey };
    expect(await verifyLedger(store, { ...common, knownKey: stranger })).toMatchObject({
      ok: false,
      findings: [
        { problem: { code: 'ledger/unknown-key', hint: expect.stringContaining('restore it from a backup') } },
      ],
    });
  });
});

describe('verify of an empty ledger', () => {
  it('finds no fault', async () => {
    expect(await verifyLedger(new MemoryStore(), common)).toMatchObject({ ok: true, size: 0, keys: [] });
  });
});

async function ledgerWithNotes(first = 0): Promise<{ store: MemoryStore; notes: string[] }> {
  const store = new MemoryStore();
  const options = testOptions({ store });
  const ledger = await openTestLedger(options);
  const notes = [options.outside.read() ?? ''];
  for (let i = 0; i < 3; i += 1) {
    await record(ledger, [testDraft(first + i)]);
    await turn();
    notes.push(options.outside.read() ?? '');
  }
  return { store, notes };
}
