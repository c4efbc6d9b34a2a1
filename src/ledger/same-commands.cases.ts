import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toHex } from './format/bytes.ts';
import type { Draft } from './format/draft.ts';
import { MemoryStore } from './memory-store.ts';
import { all, type StorePlace } from './store.cases.ts';
import type { Store } from './store.ts';
import { verifyLedger } from './verify/verify-ledger.ts';
import { nodeVerifier } from './writer/keys.ts';
import { openTestLedger, record, testDraft } from './writer/ledger.cases.ts';

/** A list of commands: each records some entries, alone or in one commit with the following commands. */
const commands = fc.array(
  fc.record({
    texts: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }),
    task: fc.constantFrom('T001', 'P0.1.1', 'W-00042'),
    together: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

/** Checks that the same commands give the same entries, hashes, checkpoints and tiles in every store. */
export function itRecordsTheSame(name: string, makePlace: () => Promise<StorePlace>, numRuns: number): void {
  it(`records the same on ${name} as in memory`, async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const place = await makePlace();
        const store = await place.open();
        const memory = new MemoryStore();
        for (const each of [store, memory]) await perform(each, list);
        expect(await contentOf(store)).toEqual(await contentOf(memory));
        const verified = await verifyLedger(store, {
          project: 'demo',
          verifier: nodeVerifier,
          allSignatures: true,
        });
        expect(verified.ok).toBe(true);
        await store.close();
        await place.remove();
      }),
      { numRuns },
    );
  }, 120_000);
}

type Command = { readonly texts: readonly string[]; readonly task: string; readonly together: boolean };

async function perform(store: Store, list: readonly Command[]): Promise<void> {
  const ledger = await openTestLedger({ store });
  let waiting: Promise<void>[] = [];
  for (const { texts, task, together } of list) {
    const drafts = texts.map((text, i) => makeDraft(task, text, i));
    waiting.push(record(ledger, drafts));
    if (together) continue;
    await Promise.all(waiting);
    waiting = [];
  }
  await Promise.all(waiting);
  // Enough entries to complete a tile.
  await record(
    ledger,
    Array.from({ length: 256 }, (_, i) => testDraft(i)),
  );
}

function makeDraft(task: string, text: string, number: number): Draft {
  return { actor: 'session:s-1', type: 'TaskUpdated', data: { task_id: task, text, [text]: number } };
}

async function contentOf(store: Store): Promise<unknown> {
  const entries = await all(store.entries({ from: 1 }));
  return {
    entries: entries.map(({ seq, hash, bytes, note }) => [seq, toHex(hash), new TextDecoder().decode(bytes), note]),
    tiles: (await store.tiles(8, { from: 0 })).map(toHex),
  };
}
