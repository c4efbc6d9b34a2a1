import { beforeAll, describe, expect, it } from 'vitest';
import { linkDrafts } from '../format/chain.ts';
import { prepareDraft } from '../format/draft.ts';
import type { Draft } from '../format/draft.ts';
import { nodeVerifier } from '../writer/keys.ts';
import { countDraft, numberDrafts, openTestLedger, record, testDraft } from '../writer/ledger.cases.ts';
import { exportLedger, verifyExport } from './export.ts';
import { Keyring } from './keyring.ts';
import { renderTaskProof, type TaskProof } from './proof-text.ts';
import { makeTaskProof, verifyTaskProof } from './task-proof.ts';
import { verifyFile } from './verify-file.ts';
import { verifyLedger } from './verify-ledger.ts';
import { findPosition, LedgerWalk } from './walk.ts';

const created: Draft = { actor: 'operator:ada', type: 'TaskCreated', data: { task_id: 'T001', title: 'bad entries' } };
const verify = (proof: TaskProof) => verifyTaskProof(nodeVerifier, renderTaskProof(proof));

describe('a proof of entries with numbers', () => {
  let proof: TaskProof;
  let other: TaskProof;

  beforeAll(async () => {
    const last = new Map<string, number>();
    const ledger = await openTestLedger();
    await record(ledger, numberDrafts(last, [created, testDraft(1), testDraft(2, 'T002'), testDraft(3)]));
    await record(ledger, [countDraft(last, 'T001'), countDraft(last, 'T002')]);
    await record(ledger, numberDrafts(last, [testDraft(4)]));
    proof = await proofOf(ledger.store, 'T001');
    other = await proofOf(ledger.store, 'T002');
  });

  it('ends with the count, and has no entry that was recorded after it', async () => {
    expect(proof.entries.map(({ entry }) => entry.type)).toEqual([
      'TaskCreated',
      'TaskUpdated',
      'TaskUpdated',
      'TaskCounted',
    ]);
    expect(await verify(proof)).toMatchObject({ ok: true, value: { size: 8, complete: { from: 1, to: 6 } } });
  });

  it.each([
    ['its first entry', (entries) => entries.slice(1), 'number 1 is missing'],
    ['an entry in the middle', (entries) => entries.toSpliced(1, 1), 'number 2 is missing'],
    ['two entries', (entries) => entries.toSpliced(1, 2), 'number 2 is missing'],
    ['its count', (entries) => entries.slice(0, -1), 'does not end with the count'],
    ['everything but its count', (entries) => entries.slice(-1), 'number 1 is missing'],
  ] satisfies [string, (entries: TaskProof['entries']) => TaskProof['entries'], string][])(
    'is refused without %s',
    async (_, change, why) => {
      expect(await verify({ ...proof, entries: change(proof.entries) })).toMatchObject({
        ok: false,
        problems: [{ code: 'ledger/bad-proof', message: expect.stringContaining(why) }],
      });
    },
  );

  it('is refused with an entry of another task, or one twice', async () => {
    const [first, ...rest] = proof.entries;
    for (const entries of [
      [...proof.entries, ...other.entries].toSorted((a, b) => a.entry.seq - b.entry.seq),
      [first, first, ...rest],
      other.entries,
    ])
      expect(await verify({ ...proof, entries: entries.filter((each) => each !== undefined) })).toMatchObject({
        ok: false,
      });
  });

  it('is refused as a proof of version 1, which need not be complete', async () => {
    for (const entries of [proof.entries, proof.entries.slice(0, 2)]) {
      const text = JSON.stringify({ ...proof, v: 1, entries });
      expect(await verifyTaskProof(nodeVerifier, text)).toMatchObject({
        ok: false,
        problems: [{ message: expect.stringContaining('a proof of version 1 has entries of version 2') }],
      });
    }
  });

  it('begins with the proposal of an accepted task', async () => {
    const last = new Map<string, number>();
    const ledger = await openTestLedger();
    const proposed: Draft = { ...created, actor: 'session:s1', type: 'TaskProposed' };
    await record(ledger, [...numberDrafts(last, [proposed, created, testDraft(1)]), countDraft(last, 'T001')]);
    const proof = await proofOf(ledger.store, 'T001');
    expect(await verify(proof)).toMatchObject({ ok: true, value: { complete: { from: 1, to: 5 } } });
    expect(await verify({ ...proof, entries: proof.entries.slice(1) })).toMatchObject({ ok: false });
  });

  it('has one text', async () => {
    const text = renderTaskProof(proof);
    for (const same of [text, text.trimEnd()])
      expect(await verifyTaskProof(nodeVerifier, same)).toMatchObject({ ok: true });
    for (const changed of [
      ` ${text}`,
      `${text}\n`,
      text.replaceAll('\n', '\r\n'),
      JSON.stringify(proof),
      JSON.stringify(JSON.parse(text), null, 2),
      text.replace('"task_id":"T001"', '"task_id":"T999","task_id":"T001"'),
      text.replace('"title":', '"title":"approved","title":'),
      text.replace('{"actor"', '{"v":2,"actor"'),
      text.replace('bad entries', '\\u0062ad entries'),
      text.replace('"seq":2', '"seq":2.0'),
    ]) {
      expect(changed).not.toBe(text);
      expect(await verifyTaskProof(nodeVerifier, changed)).toMatchObject({ ok: false });
    }
  });

  it('is not made of entries that nobody counted', async () => {
    const ledger = await openTestLedger();
    await record(ledger, numberDrafts(new Map(), [created, testDraft(1)]));
    expect(await makeTaskProof(ledger.store, nodeVerifier, 'demo', 'T001')).toMatchObject({
      ok: false,
      problems: [{ code: 'ledger/no-proof', message: expect.stringContaining('were not counted') }],
    });
  });

  it('is refused with a count that leaves entries out', async () => {
    const ledger = await openTestLedger();
    const short = { ...countDraft(new Map([['T001', 2]]), 'T001'), data: { task_id: 'T001', last: 2 } };
    await record(ledger, [...numberDrafts(new Map(), [created, testDraft(1)]), short]);
    expect(await verify(await proofOf(ledger.store, 'T001'))).toMatchObject({ ok: false });
  });
});

describe('a proof of entries without numbers', () => {
  it('holds, and says that completeness is not provable', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [created, testDraft(1)]);
    const proof = await proofOf(ledger.store, 'T001');
    for (const text of [renderTaskProof(proof), JSON.stringify(proof)])
      expect(await verifyTaskProof(nodeVerifier, text)).toMatchObject({
        ok: true,
        value: { complete: undefined, entries: { length: 2 } },
      });
    const doubled = JSON.stringify(proof).replace('"title":', '"title":"approved","title":');
    expect(await verifyTaskProof(nodeVerifier, doubled)).toMatchObject({ ok: false });
  });

  it('names the first entry from which it is complete, if numbers began later', async () => {
    const last = new Map<string, number>();
    const ledger = await openTestLedger();
    await record(ledger, [created, testDraft(1)]);
    await record(ledger, [...numberDrafts(last, [testDraft(2)]), countDraft(last, 'T001')]);
    const proof = await proofOf(ledger.store, 'T001');
    expect(await verify(proof)).toMatchObject({ ok: true, value: { complete: { from: 4, to: 5 } } });
    // Entries of version 1 have no numbers, so one that is missing is not noticed. That is what `from` says.
    expect(await verify({ ...proof, entries: proof.entries.slice(1) })).toMatchObject({
      ok: true,
      value: { complete: { from: 4 } },
    });
  });
});

describe('the numbers of a ledger', () => {
  it.each([
    ['begin with 2', { T001: 2 }, 'entry 2 is not entry 1 of the task T001'],
    ['leave one out', { T001: 1 }, 'entry 3 is not entry 2 of the task T001'],
  ])('are refused if they %s', async (_, tasks, why) => {
    const ledger = await openTestLedger();
    await record(ledger, [{ ...created, tasks }]);
    await record(ledger, [{ ...testDraft(1), tasks: { T001: 3 } }]);
    expect(await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier })).toMatchObject({
      ok: false,
      findings: [{ problem: { code: 'ledger/wrong-number', message: expect.stringContaining(why) } }],
    });
  });

  it('are refused if one appears twice, in an export too', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [{ ...created, tasks: { T001: 1 } }]);
    const good = await exportOf(ledger.store);
    await record(ledger, [{ ...testDraft(1), tasks: { T001: 1 } }]);
    expect(await verifyExport(nodeVerifier, linesOf(good))).toMatchObject({ ok: true });
    expect(await exportLedger(ledger.store, nodeVerifier, 'demo').next()).toMatchObject({
      done: true,
      value: { seq: 3, problem: { code: 'ledger/wrong-number' } },
    });
  });

  it('are in every entry after the first that has them', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [{ ...created, tasks: { T001: 1 } }]);
    await record(ledger, [{ actor: 'system:daemon', type: 'LedgerSealed', data: { size: 2 } }]);
    const [sealed] = await collect(ledger.store.entries({ from: 3, to: 3 }));
    expect(new TextDecoder().decode(sealed?.[0]?.bytes)).toContain('"tasks":{},"type":"LedgerSealed","v":2}');
    const prepared = prepareDraft(testDraft(2), { position: 0, size: 3 });
    if (!prepared.ok) throw new Error(prepared.problems[0].message);
    const link = (isNumbered: boolean) =>
      linkDrafts(nodeVerifier.sha256, 'demo', '2026-01-01T00:00:00.000Z', ledger.head, [prepared.value], isNumbered);
    expect(() => link(true)).toThrow('is about a task and has no number within it');
    const [old] = link(false);
    const start = { from: 1, to: 3 };
    const rows = (await collect(ledger.store.entries(start))).flat();
    const walk = new LedgerWalk(nodeVerifier, 'demo', new Keyring(nodeVerifier, 'demo'));
    const steps = [...walk.steps([...rows, ...(old === undefined ? [] : [old.stored])])];
    expect(steps.at(-1)).toMatchObject({ ok: false, finding: { seq: 4, problem: { code: 'ledger/wrong-number' } } });
  });

  it('continue from any position', async () => {
    const last = new Map<string, number>();
    const ledger = await openTestLedger();
    await record(ledger, numberDrafts(last, [created, testDraft(1)]));
    await record(ledger, numberDrafts(last, [testDraft(2)]));
    const position = await findPosition(ledger.store, nodeVerifier.sha256, 3);
    expect(position?.isNumbered).toBe(true);
    const walk = new LedgerWalk(nodeVerifier, 'demo', new Keyring(nodeVerifier, 'demo'), position);
    const rows = (await collect(ledger.store.entries({ from: 4 }))).flat();
    expect([...walk.steps(rows)]).toMatchObject([{ ok: true }]);
  });
});

describe('the bytes of a file', () => {
  it('are read as UTF-8 and nothing else, line by line', async () => {
    const ledger = await openTestLedger();
    const data = { task_id: 'T001', title: 'a\u2028b \ufffd' };
    await record(ledger, [{ ...created, data }]);
    const good = Buffer.from(await exportOf(ledger.store));
    expect(await verifyFile(nodeVerifier, inPieces(good, 1))).toMatchObject({ ok: true, value: { kind: 'export' } });
    const at = good.indexOf('\ufffd');
    const replaced = Buffer.concat([good.subarray(0, at), Buffer.from([0xff]), good.subarray(at + 3)]);
    const marked = Buffer.concat([Buffer.from('\ufeff'), good]);
    for (const changed of [replaced, marked, Buffer.from(good.toString().replaceAll('\n', '\r\n'))])
      expect(await verifyFile(nodeVerifier, inPieces(changed, 7))).toMatchObject({ ok: false });
  });

  it('have each field of an export once', async () => {
    const ledger = await openTestLedger();
    await record(ledger, [created]);
    const good = await exportOf(ledger.store);
    for (const changed of [
      good.replace('"title":', '"title":"approved","title":'),
      good.replace('{"entry":', '{"entry":{},"entry":'),
      good.replace(/,"hash":"[0-9a-f]+"/, '$&$&'),
      good.replace('{"checkpoint":', '{"checkpoint":"","checkpoint":'),
      good.replace('bad entries', '\\u0062ad entries'),
      good.replace('{"checkpoint":', '{ "checkpoint":'),
    ]) {
      expect(changed).not.toBe(good);
      expect(await verifyExport(nodeVerifier, linesOf(changed))).toMatchObject({ ok: false });
    }
  });
});

async function proofOf(store: Parameters<typeof makeTaskProof>[0], taskId: string): Promise<TaskProof> {
  const proof = await makeTaskProof(store, nodeVerifier, 'demo', taskId);
  if (!proof.ok) throw new Error(proof.problems[0].message);
  return proof.value;
}

async function exportOf(store: Parameters<typeof exportLedger>[0]): Promise<string> {
  return (await collect(exportLedger(store, nodeVerifier, 'demo'))).join('');
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n');
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
