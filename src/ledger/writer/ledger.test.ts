import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GENESIS } from '../format/chain.ts';
import type { Draft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { ledgerProblem } from '../format/limits.ts';
import { MemoryStore } from '../memory-store.ts';
import { all } from '../store.cases.ts';
import type { Appended, Commit, Head, NewerEntries, StoredEntry } from '../store.ts';
import { createKeyAddedDraft } from '../verify/keyring.ts';
import { verifyLedger } from '../verify/verify-ledger.ts';
import { nodeVerifier } from './keys.ts';
import { MemoryOutsideCopy, openTestLedger, record, testDraft, testOptions, testSigner } from './ledger.cases.ts';
import { openLedger } from './open.ts';

describe('a new ledger', () => {
  it('begins with the key that signs it', async () => {
    const ledger = await openTestLedger();
    expect(ledger.head.size).toBe(1);
    const verified = await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier });
    expect(verified.ok && verified.keys).toHaveLength(1);
    expect(verified.ok && verified.warnings).toEqual([]);
  });
});

describe('append', () => {
  it('records all drafts of a call consecutively, with causes inside the call', async () => {
    const ledger = await openTestLedger();
    const recorded = await ledger.append([testDraft(1), { ...testDraft(2), cause: { draft: 0 } }]);
    expect(recorded.ok && recorded.entries.map(({ entry }) => [entry.seq, entry.cause])).toEqual([
      [2, 1],
      [3, 2],
    ]);
  });

  it('lets concurrent callers share one commit, in the order of their calls', async () => {
    const store = new CountingStore();
    const ledger = await openTestLedger({ store });
    const before = store.commits;
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => ledger.append([testDraft(i)])));
    expect(store.commits - before).toBe(1);
    const seqs = answers.map((answer) => (answer.ok ? answer.entries[0]?.entry.seq : undefined));
    expect(seqs).toEqual(Array.from({ length: 100 }, (_, i) => i + 2));
  });

  it('lets other callers run even if one caller never pauses', async () => {
    const ledger = await openTestLedger();
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const deadline = performance.now() + 10_000;
    for (let i = 0; turns === 0 && performance.now() < deadline; i += 1) await record(ledger, [testDraft(i)]);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it('splits large groups between commits, but never a call', async () => {
    const store = new CountingStore();
    const ledger = await openTestLedger({ store });
    const calls = Array.from({ length: 5 }, () => ledger.append(Array.from({ length: 400 }, (_, i) => testDraft(i))));
    const answers = await Promise.all(calls);
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect(store.sizes.slice(1)).toEqual([800, 800, 400]);
    expect((await verifyLedger(store, { project: 'demo', verifier: nodeVerifier })).ok).toBe(true);
  });

  it('refuses a bad draft for its caller alone', async () => {
    const ledger = await openTestLedger();
    const bad: Draft = { ...testDraft(2), data: { half: 0.5 } };
    const [good, refusal] = await Promise.all([ledger.append([testDraft(1)]), ledger.append([bad])]);
    expect(good.ok).toBe(true);
    expect(refusal).toMatchObject({ ok: false, problem: { code: 'ledger/not-integer' } });
    expect(ledger.head.size).toBe(2);
  });

  it('refuses unreadable data only for its caller, and continues after all were refused', async () => {
    const ledger = await openTestLedger();
    const unreadable = Object.defineProperty({}, 'text', { enumerable: true, get: () => missing() });
    const bad: Draft = { ...testDraft(1), data: unreadable };
    const refusal = { ok: false, problem: { code: 'ledger/bad-draft' } };
    expect(await ledger.append([bad])).toMatchObject(refusal);
    const [good, again] = await Promise.all([ledger.append([testDraft(1)]), ledger.append([testDraft(2), bad])]);
    expect(good.ok).toBe(true);
    expect(again).toMatchObject(refusal);
    const emptied = [testDraft(3)];
    const nothing = ledger.append(emptied);
    emptied.pop();
    expect(await nothing).toEqual({ ok: true, entries: [] });
    expect(ledger.head.size).toBe(2);
  });

  it('reports every entry once, in order, before its caller continues', async () => {
    const seen: Entry[] = [];
    const ledger = await openTestLedger({ onEntries: (entries) => seen.push(...entries) });
    await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        const recorded = await ledger.append([testDraft(i)]);
        expect(recorded.ok && seen.includes(recorded.entries[0]?.entry ?? missing())).toBe(true);
      }),
    );
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('returns a conflict after catching up, and the next attempt succeeds', async () => {
    const store = new MemoryStore();
    const seen: number[] = [];
    const here = await openTestLedger({
      store,
      onEntries: (entries) => seen.push(...entries.map(({ seq }) => seq)),
    });
    const there = await openTestLedger({ store });
    await record(there, [testDraft(1), testDraft(2)]);
    const answer = await here.append([testDraft(3)]);
    expect(answer).toEqual({ ok: false, conflict: here.head });
    expect(here.head.size).toBe(3);
    expect(seen).toEqual([1, 2, 3]);
    await record(here, [testDraft(3)]);
    expect(await there.catchUp()).toBeUndefined();
    expect(there.head).toEqual(here.head);
  });

  it('refuses drafts decided on another ledger, alone, and records the others of the group', async () => {
    const ledger = await openTestLedger();
    const [first, outdated, any, follows] = await Promise.all([
      ledger.append([testDraft(1), testDraft(2)], 1),
      ledger.append([testDraft(3)], 1),
      ledger.append([testDraft(4)]),
      ledger.append([testDraft(5)], 4),
    ]);
    expect([first.ok, any.ok, follows.ok]).toEqual([true, true, true]);
    expect(outdated).toEqual({ ok: false, conflict: ledger.head });
    expect(ledger.head.size).toBe(5);
    expect(await ledger.append([testDraft(6)], 6)).toEqual({ ok: false, conflict: ledger.head });
    expect(await ledger.append([testDraft(6)], 5)).toMatchObject({ ok: true });
  });

  it('refuses drafts decided before entries that it caught up with', async () => {
    const store = new MemoryStore();
    const [here, there] = [await openTestLedger({ store }), await openTestLedger({ store })];
    await record(there, [testDraft(1)]);
    const [caughtUp, outdated] = await Promise.all([here.catchUp(), here.append([testDraft(2)], 1)]);
    expect(caughtUp).toBeUndefined();
    expect(outdated).toEqual({ ok: false, conflict: there.head });
  });

  it('catches up between commits, never during one', async () => {
    const store = new MemoryStore();
    const [here, there] = [await openTestLedger({ store }), await openTestLedger({ store })];
    for (let i = 0; i < 20; i += 1) {
      await Promise.all([here.catchUp(), here.append([testDraft(i)]), there.append([testDraft(i)]), here.catchUp()]);
    }
    expect(await there.catchUp()).toBeUndefined();
    expect(await here.catchUp()).toBeUndefined();
    expect(here.head).toEqual(await store.head());
    expect(there.head).toEqual(here.head);
  });

  it('is refused after closing, and waiting drafts are recorded', async () => {
    const ledger = await openTestLedger();
    const [waiting] = await Promise.all([ledger.append([testDraft(1)]), ledger.close(), ledger.close()]);
    expect(waiting.ok).toBe(true);
    expect(await ledger.append([testDraft(2)])).toMatchObject({ ok: false, problem: { code: 'ledger/closed' } });
    expect(await ledger.catchUp()).toMatchObject({ code: 'ledger/closed' });
  });

  it('keeps one chain under many writers that retry', async () => {
    const store = new MemoryStore();
    const writers = await Promise.all(Array.from({ length: 4 }, () => openTestLedger({ store })));
    await Promise.all(
      writers.map(async (writer, w) => {
        for (let i = 0; i < 25;) {
          const answer = await writer.append([testDraft(w * 100 + i)]);
          if (answer.ok) i += 1;
        }
      }),
    );
    expect((await all(store.entries({ from: 1 }))).length).toBe(101);
    expect((await verifyLedger(store, { project: 'demo', verifier: nodeVerifier, allSignatures: true })).ok).toBe(true);
  });
});

describe('a store that fails', () => {
  it('returns its problem to the callers, and the next append works', async () => {
    const store = new CountingStore();
    const ledger = await openTestLedger({ store });
    store.fail = 'before';
    expect(await ledger.append([testDraft(1)])).toMatchObject({
      ok: false,
      problem: { code: 'ledger/full' },
    });
    store.fail = undefined;
    await record(ledger, [testDraft(2)]);
    expect(ledger.head.size).toBe(2);
  });

  it('may have recorded the commit, which is then acknowledged', async () => {
    const store = new CountingStore();
    const seen: number[] = [];
    const ledger = await openTestLedger({
      store,
      onEntries: (entries) => seen.push(...entries.map(({ seq }) => seq)),
    });
    store.fail = 'after';
    const answer = await ledger.append([testDraft(1)]);
    expect(answer.ok).toBe(true);
    store.fail = undefined;
    await record(ledger, [testDraft(2)]);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('that lost its end stops the ledger for good', async () => {
    const store = new CountingStore();
    const ledger = await openTestLedger({ store });
    await record(ledger, [testDraft(1)]);
    store.forgetful = true;
    expect(await ledger.catchUp()).toMatchObject({ code: 'ledger/rolled-back' });
    store.forgetful = false;
    expect(await ledger.append([testDraft(2)])).toMatchObject({
      ok: false,
      problem: { code: 'ledger/rolled-back' },
    });
    expect((await store.head()).size).toBe(2);
  });
});

describe('opening again', () => {
  it('continues at its head', async () => {
    const options = testOptions();
    const first = await openTestLedger(options);
    await record(first, [testDraft(1)]);
    const second = await openTestLedger(options);
    expect(second.head).toEqual(first.head);
    await record(second, [testDraft(2)]);
    expect((await verifyLedger(options.store, { project: 'demo', verifier: nodeVerifier })).ok).toBe(true);
  });

  it('walks everything if the outside copy is missing or torn', async () => {
    const options = testOptions();
    await record(
      await openTestLedger(options),
      Array.from({ length: 300 }, (_, i) => testDraft(i)),
    );
    const copy = options.outside.read() ?? '';
    for (const outside of [
      undefined,
      '',
      copy.slice(0, 60),
      `${copy.slice(0, 150)}${'A'.repeat(30)}${copy.slice(180)}`,
    ]) {
      const again = await openTestLedger({ ...options, outside: new MemoryOutsideCopy(outside) });
      expect(again.head.size).toBe(301);
    }
  });

  it('accepts an older outside copy, and refuses a newer one', async () => {
    const options = testOptions();
    const ledger = await openTestLedger(options);
    const older = options.outside.read();
    expect(older).toBeDefined();
    await record(ledger, [testDraft(1)]);
    expect((await openLedger({ ...options, outside: new MemoryOutsideCopy(older) })).ok).toBe(true);
    const other = testOptions();
    await record(await openTestLedger(other), [testDraft(1), testDraft(2), testDraft(3)]);
    await turn();
    const refusal = await openLedger({ ...options, outside: other.outside });
    expect(refusal).toMatchObject({ ok: false, problem: { code: 'ledger/rolled-back' } });
  });

  it('refuses a fork of the same length, and an empty store', async () => {
    const [here, there] = [testOptions(), testOptions()];
    await record(await openTestLedger(here), [testDraft(1)]);
    await record(await openTestLedger(there), [testDraft(2)]);
    const fork = await openLedger({ ...here, store: there.store });
    expect(fork).toMatchObject({ ok: false, problem: { code: 'ledger/forked' } });
    const empty = new MemoryStore();
    expect(await openLedger({ ...here, store: empty })).toMatchObject({
      problem: { code: 'ledger/rolled-back' },
    });
    expect(await empty.head()).toEqual(GENESIS);
  });

  it('refuses a machine whose key is not added', async () => {
    const options = testOptions();
    const ledger = await openTestLedger(options);
    const stranger = { ...options, signer: testSigner(2), outside: new MemoryOutsideCopy() };
    expect(await openLedger(stranger)).toMatchObject({
      ok: false,
      problem: { code: 'ledger/key-not-trusted' },
    });
    await record(ledger, [createKeyAddedDraft(nodeVerifier.sha256, 'demo', stranger.signer, 'operator:ada')]);
    const guest = await openTestLedger(stranger);
    await record(guest, [testDraft(1)]);
    expect(await ledger.catchUp()).toBeUndefined();
    await record(ledger, [testDraft(2)]);
    expect(await guest.catchUp()).toBeUndefined();
    // A ledger opened near its end knows only its own key, until it reads the other key.
    const again = await openTestLedger(options);
    await record(guest, [testDraft(3)]);
    expect(await again.catchUp()).toBeUndefined();
    expect(again.head).toEqual(guest.head);
    for (const each of [options, stranger]) expect((await openLedger(each)).ok).toBe(true);
    const verified = await verifyLedger(options.store, {
      project: 'demo',
      verifier: nodeVerifier,
      allSignatures: true,
    });
    expect(verified.ok && verified.keys).toHaveLength(2);
  });
});

describe('the same command list', () => {
  it('produces the same hashes for any grouping of calls', async () => {
    const counts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(counts, async (groups) => {
        const at = new Date(Date.UTC(2026, 0, 1));
        const [one, many] = [testOptions({ clock: () => at }), testOptions({ clock: () => at })];
        const slow = await openTestLedger(one);
        for (const count of groups) await record(slow, drafts(count));
        const fast = await openTestLedger(many);
        await Promise.all(groups.map((count) => record(fast, drafts(count))));
        expect(fast.head).toEqual(slow.head);
      }),
      { numRuns: 25 },
    );
  });
});

function drafts(count: number): Draft[] {
  return Array.from({ length: count }, (_, i) => testDraft(i));
}

function missing(): never {
  throw new Error('nothing was recorded');
}

/** A store that counts calls, fails and forgets on demand. */
describe('a ledger that has stopped', () => {
  it('looks again, and goes on after the store was repaired', async () => {
    const store = new JunkStore();
    const ledger = await openTestLedger({ store });
    await record(ledger, [testDraft(1)]);
    store.junk = [{ seq: 3, hash: new Uint8Array(32), bytes: new TextEncoder().encode('junk') }];
    expect(await ledger.catchUp()).toMatchObject({ code: 'ledger/wrong-hash' });
    expect(await ledger.append([testDraft(2)])).toMatchObject({ ok: false, problem: { code: 'ledger/wrong-hash' } });
    expect(await ledger.probe()).toMatchObject({ writable: false });
    expect(await ledger.append([testDraft(2)])).toMatchObject({ ok: false, problem: { code: 'ledger/wrong-hash' } });
    store.junk = [];
    expect(await ledger.probe()).toMatchObject({ writable: true });
    await record(ledger, [testDraft(2)]);
    expect(ledger.head.size).toBe(3);
  });
});

/** A store with one more row after its last entry, as another program could write into the database. */
class JunkStore extends MemoryStore {
  junk: readonly StoredEntry[] = [];

  override async newer(head: Head): Promise<NewerEntries | undefined> {
    const news = await super.newer(head);
    return news && { ...news, entries: [...news.entries, ...this.junk] };
  }
}

class CountingStore extends MemoryStore {
  readonly sizes: number[] = [];
  fail: 'before' | 'after' | undefined;
  forgetful = false;

  get commits(): number {
    return this.sizes.length;
  }

  override async append(commit: Commit): Promise<Appended> {
    const problem = ledgerProblem('ledger/full', 'no space left', 'Make room.');
    if (this.fail === 'before') return { ok: false, problem };
    this.sizes.push(commit.entries.length);
    const answer = await super.append(commit);
    return this.fail === 'after' ? { ok: false, problem } : answer;
  }

  override async newer(head: Head): Promise<NewerEntries | undefined> {
    return this.forgetful ? undefined : super.newer(head);
  }
}
