import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../memory-store.ts';
import { nodeVerifier } from '../writer/keys.ts';
import { MemoryOutsideCopy, openTestLedger, record, testDraft, testSigner } from '../writer/ledger.cases.ts';
import { originOf } from '../format/checkpoint.ts';
import type { StoredEntry } from '../store.ts';
import { verifyTail, type TailOptions } from './verify-tail.ts';

const KEY = { name: originOf('demo'), publicKey: testSigner().publicKey };

/** A ledger of one entry for the key and `commits` commits with ten entries each. */
async function ledgerOf(commits: number) {
  const entries: StoredEntry[] = [];
  const [store, outside] = [new MemoryStore({ entries, tiles: [] }), new MemoryOutsideCopy()];
  const ledger = await openTestLedger({ store, outside });
  for (let commit = 0; commit < commits; commit += 1)
    await record(
      ledger,
      Array.from({ length: 10 }, (_, i) => testDraft(commit * 10 + i)),
    );
  await ledger.close();
  /** Stores other bytes under the same hash. */
  const change = (seq: number): void => {
    const [before, other] = [entries[seq - 1], entries[seq]];
    if (before !== undefined && other !== undefined) entries[seq - 1] = { ...before, bytes: other.bytes };
  };
  return { store, outside, change };
}

async function verify(store: MemoryStore, more: Partial<TailOptions> = {}) {
  const options = { project: 'demo', verifier: nodeVerifier, keys: [KEY], outside: undefined, entries: 25 };
  const done = await verifyTail(store, { ...options, ...more });
  return done.ok ? [done.from, done.size] : done.finding.problem.code;
}

describe('the end of a ledger', () => {
  it('is verified from an earlier checkpoint on', async () => {
    const { store, outside } = await ledgerOf(60);
    const seen: number[] = [];
    expect(await verify(store, { outside: outside.read(), onEntry: ({ seq }) => seen.push(seq) })).toEqual([572, 601]);
    expect([seen[0], seen.length]).toEqual([572, 30]);
  });

  it('is all of a small ledger', async () => {
    const { store, outside } = await ledgerOf(2);
    expect(await verify(store, { outside: outside.read() })).toEqual([1, 21]);
  });

  it('is a fault if the ledger is empty', async () => {
    expect(await verify(new MemoryStore())).toEqual([1, 0]);
  });

  it('is a fault if an entry was changed', async () => {
    const { store, change } = await ledgerOf(60);
    change(590);
    expect(await verify(store)).toBe('ledger/wrong-hash');
  });

  it('is a fault if it is shorter than the outside checkpoint', async () => {
    const { store } = await ledgerOf(60);
    const { outside } = await ledgerOf(61);
    expect(await verify(store, { outside: outside.read() })).toBe('ledger/rolled-back');
  });

  it('is a fault if the outside checkpoint is of another ledger', async () => {
    const { store } = await ledgerOf(60);
    const other = new MemoryOutsideCopy();
    const ledger = await openTestLedger({ outside: other });
    await record(ledger, [testDraft(77), testDraft(78)]);
    await ledger.close();
    expect(await verify(store, { outside: other.read() })).toBe('ledger/forked');
  });

  it('is a fault if no known key signed it', async () => {
    const { store } = await ledgerOf(60);
    const keys = [{ ...KEY, publicKey: testSigner(2).publicKey }];
    expect(await verify(store, { keys })).toBe('ledger/wrong-signature');
    expect(await verify(store, { keys: [] })).toEqual([572, 601]);
  });

  it('does not show an earlier change if the stored tree is unchanged', async () => {
    const { store, change } = await ledgerOf(60);
    change(3);
    expect(await verify(store)).toEqual([572, 601]);
  });
});
