import { beforeAll, describe, expect, it } from 'vitest';
import { webVerifier } from '../format/crypto.ts';
import { MemoryStore } from '../memory-store.ts';
import { revocationOf } from '../replica/replica.cases.ts';
import { nodeSha256, nodeVerifier } from '../writer/keys.ts';
import { openTestLedger, record, testDraft, testSigner } from '../writer/ledger.cases.ts';
import { sealLedger } from '../writer/seal.ts';
import { exportLedger, verifyExport } from './export.ts';
import { createKeyAddedDraft } from './keyring.ts';
import { ResumableVerification } from './resumable.ts';
import type { LedgerFault } from './walk.ts';

/** A ledger in which a second key is added, signs, and is revoked; with commits of several entries, and a seal. */
let lines: readonly string[];
let note: string;

beforeAll(async () => {
  const store = new MemoryStore();
  const first = await openTestLedger({ store });
  await record(first, [testDraft(1), testDraft(2)]);
  await record(first, [createKeyAddedDraft(nodeSha256, 'demo', testSigner(2), 'operator:ada'), testDraft(3)]);
  const second = await openTestLedger({ store, signer: testSigner(2) });
  await record(second, [testDraft(4)]);
  await first.catchUp();
  await record(first, [revocationOf(2), testDraft(5)]);
  await sealLedger(first, 'operator:ada');
  for (let i = 6; i < 10; i += 1) await record(first, [testDraft(i), testDraft(10 + i)]);
  let text = '';
  for await (const part of exportLedger(store, nodeVerifier, 'demo')) text += part;
  const all = text.trimEnd().split('\n');
  lines = all.slice(0, -1);
  note = JSON.parse(all.at(-1) ?? '').checkpoint;
});

/** The number of the entry in each line; for a checkpoint, the number of entries that it covers. */
const seqOf = (index: number): number => lines.slice(0, index + 1).filter((line) => line.startsWith('{"entry"')).length;

async function verify(parts: readonly (readonly string[])[], end = note): Promise<ResumableVerification> {
  const verification = new ResumableVerification(webVerifier);
  for (const part of parts) await verification.add(part);
  await verification.addCheckpoint(end);
  return verification;
}

/**
 * Simulates a page that is opened again after each part. Only signed positions are remembered, so unsigned lines are
 * read again.
 */
async function verifyWithBreaks(all: readonly string[], size: number): Promise<LedgerFault | undefined> {
  let remembered: unknown;
  let unsigned = 0;
  for (let to = size; ; to += size) {
    const opened = ResumableVerification.resume(webVerifier, remembered) ?? new ResumableVerification(webVerifier);
    for (let i = unsigned; i < Math.min(to, all.length); i += 1) {
      const fault = await opened.add([all[i] ?? '']);
      if (fault !== undefined) return fault;
      if (opened.signedSize < opened.size) continue;
      remembered = JSON.parse(JSON.stringify(opened.remember()));
      unsigned = i + 1;
    }
    if (to >= all.length) return opened.addCheckpoint(note);
  }
}

describe('an export that is verified in parts', () => {
  it('has the same result as the whole', async () => {
    const whole = await verifyExport(webVerifier, toStream([...lines, JSON.stringify({ checkpoint: note })]));
    if (!whole.ok) throw new Error(whole.problems[0].message);
    for (const size of [1, 2, 3, 7, 100]) {
      const parts = Array.from({ length: Math.ceil(lines.length / size) }, (_, i) =>
        lines.slice(i * size, (i + 1) * size),
      );
      const verified = await verify(parts);
      expect(verified.fault).toBeUndefined();
      expect(verified).toMatchObject({ size: whole.value.size, signedSize: whole.value.size, keys: whole.value.keys });
    }
  });

  it.each([1, 2, 3, 5, 8])('continues from what was remembered, in parts of %i lines', async (size) => {
    expect(await verifyWithBreaks(lines, size)).toBeUndefined();
  });

  it('remembers only positions that a trusted key has signed', async () => {
    const verification = new ResumableVerification(webVerifier);
    await verification.add(lines.slice(0, 2));
    expect(verification).toMatchObject({ size: 2, signedSize: 0 });
    expect(verification.remember()).toBeUndefined();
  });

  it('refuses to resume from any other value', async () => {
    const good = (await verify([lines])).remember();
    expect(ResumableVerification.resume(webVerifier, good)).toMatchObject({ size: good?.size, keys: good?.keys });
    const wrong = [
      null,
      {},
      { ...good, v: 2 },
      { ...good, size: 4095 },
      { ...good, hash: 'ab' },
      { ...good, subtrees: [] },
    ];
    for (const value of [...wrong, { ...good, keys: [] }, { ...good, keys: ['x'] }, { ...good, project: '' }])
      expect(ResumableVerification.resume(webVerifier, value)).toBeUndefined();
  });
});

describe('a changed export', () => {
  it('is found at each byte of each kind of line, at the entry that was changed', async () => {
    const kinds = new Map(lines.map((line, i) => [/"type":"(\w+)"/.exec(line)?.[1] ?? 'checkpoint', i]));
    expect([...kinds.keys()]).toEqual(['KeyAdded', 'TaskUpdated', 'checkpoint', 'KeyRevoked', 'LedgerSealed']);
    for (const [kind, index] of kinds) {
      const line = lines[index] ?? '';
      for (let at = 0; at < line.length; at += 5) {
        const fault = (await verify([lines.with(index, flip(line, at))])).fault;
        expect([kind, at, fault?.seq]).toEqual([kind, at, expect.toBeOneOf([seqOf(index), seqOf(index) + 1])]);
      }
    }
  });

  it('is found at each byte of the last checkpoint', async () => {
    for (let at = 0; at < note.length; at += 1)
      expect((await verify([lines], flip(note, at))).fault, `byte ${at}`).toBeDefined();
  });

  it('is found after a break, and names the first entry that does not follow', async () => {
    const remembered = await rememberAfter(lines.slice(0, 6));
    const resumed = ResumableVerification.resume(webVerifier, remembered);
    const rest = lines.slice(6);
    expect(await resumed?.add(rest.with(1, flip(rest[1] ?? '', 30)))).toMatchObject({ seq: seqOf(7) });
  });

  it('is found if lines are missing, twice there or in another order', async () => {
    const entries = lines.flatMap((line, i) => (line.startsWith('{"entry"') ? i : []));
    for (const index of entries.slice(1)) {
      expect((await verify([lines.toSpliced(index, 1)])).fault?.seq).toBe(seqOf(index));
      expect((await verify([lines.toSpliced(index, 0, lines[index] ?? '')])).fault?.seq).toBe(seqOf(index) + 1);
    }
    expect((await verify([lines.toReversed()])).fault?.seq).toBe(1);
  });

  it('is found if entries that were verified are gone', async () => {
    const store = new MemoryStore();
    const shorter = await openTestLedger({ store });
    await record(shorter, [testDraft(1)]);
    const resumed = ResumableVerification.resume(webVerifier, (await verify([lines])).remember());
    const fault = await resumed?.addCheckpoint((await store.findCheckpoint())?.note ?? '');
    expect(fault).toMatchObject({ seq: 3, problem: { code: 'ledger/rolled-back' } });
  });

  it('is found if another ledger continues it', async () => {
    const other = await openTestLedger({ signer: testSigner(3) });
    await record(other, [testDraft(1)]);
    const resumed = new ResumableVerification(webVerifier, 'another');
    expect(await resumed.add(lines)).toMatchObject({ seq: 1, problem: { code: 'ledger/wrong-project' } });
  });

  it('accepts nothing more after the first fault', async () => {
    const verification = new ResumableVerification(webVerifier);
    const fault = await verification.add(['nonsense']);
    expect(fault).toMatchObject({ seq: 1 });
    expect(await verification.add(lines)).toBe(fault);
    expect(verification.remember()).toBeUndefined();
  });
});

async function rememberAfter(some: readonly string[]): Promise<unknown> {
  const verification = new ResumableVerification(webVerifier);
  await verification.add(some);
  const position = verification.remember();
  expect(position?.size).toBe(verification.size);
  return JSON.parse(JSON.stringify(position));
}

function flip(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
}

async function* toStream(all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}
