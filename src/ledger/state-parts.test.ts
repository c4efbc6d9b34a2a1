import { expect, it } from 'vitest';
import { sameBytes } from './format/bytes.ts';
import { MemoryStore } from './memory-store.ts';
import { readState, signParts, storeState } from './state-parts.ts';
import { verifyLedger } from './verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from './writer/keys.ts';
import { openTestLedger, record, testDraft, testSigner } from './writer/ledger.cases.ts';

const NAME = 'tasks';

async function* each(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

function bytesOf(texts: readonly string[]): Uint8Array[] {
  return texts.map((text) => Buffer.from(text));
}

/** A ledger with a snapshot of three parts. */
async function scene() {
  const ledger = await openTestLedger();
  const store = new MemoryStore();
  const { head, snapshotSigner: by, snapshotTrust: trust } = ledger;
  const from = { hashes: ledger.store.hashes.bind(ledger.store), state: store.state };
  const texts = ['one', 'two', 'three'];
  await storeState(store.state, by, { name: NAME, head }, each(bytesOf(texts)));
  const stored: Uint8Array[] = [];
  for await (const part of (await store.state.read()) ?? []) stored.push(part);
  const readParts = async (parts?: AsyncIterable<Uint8Array>) => {
    if (parts !== undefined) await store.state.write(parts);
    const seen: string[] = [];
    const read = await readState(from, trust, (part) => void seen.push(Buffer.from(part).toString()));
    return { ...read, seen };
  };
  return { ledger, head, by, texts, stored, readParts };
}

it('is read part by part, with its entry', async () => {
  const { readParts, head, texts } = await scene();
  const read = await readParts();
  expect(read).toMatchObject({ ok: true, name: NAME, head: { size: head.size }, seen: texts });
  expect('head' in read && sameBytes(read.head.hash, head.hash)).toBe(true);
});

it('is refused if any byte of any part has changed', async () => {
  const { readParts, stored } = await scene();
  for (const [i, part] of stored.entries())
    for (let at = 0; at < part.length; at += 1) {
      const bytes = Uint8Array.from(part);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      expect(await readParts(each(stored.with(i, bytes))), `byte ${at} of part ${i}`).toMatchObject({ ok: false });
    }
});

it('is refused if parts are missing, added, split or in another order', async () => {
  const { readParts, stored } = await scene();
  const [header, one, two, three, note] = stored as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const forged = {
    'without a part': [header, one, three, note],
    'with a part more': [header, one, two, three, three, note],
    'in another order': [header, two, one, three, note],
    'with a part split in two': [header, one.subarray(0, 1), one.subarray(1), two, three, note],
    'with two parts joined': [header, Buffer.concat([one, two]), three, note],
    'without the note': [header, one, two, three],
    'without anything': [],
  };
  for (const [how, parts] of Object.entries(forged)) {
    const read = await readParts(each(parts));
    expect(read, `forged: ${how}`).toMatchObject({ ok: false });
  }
});

it('is refused unless a key of this ledger signed it, for this project, name and entry', async () => {
  const { ledger, readParts, by, head, texts, stored } = await scene();
  await record(ledger, [testDraft(1)]);
  const sign = (more: object, about: object = {}) =>
    signParts({ ...by, ...more }, { name: NAME, head, ...about }, each(bytesOf(texts)));
  const checkpoint = (await ledger.store.findCheckpoint())?.note ?? '';
  expect(await readParts(sign({ signer: testSigner(9) }))).toMatchObject({ ok: false, fault: 'foreign' });
  expect(await readParts(sign({ project: 'other' }))).toMatchObject({ ok: false, fault: 'foreign' });
  expect(await readParts(each(stored.with(4, Buffer.from(checkpoint))))).toMatchObject({ fault: 'foreign' });
  const elsewhere = { size: 1, hash: nodeSha256(Buffer.of(1)) };
  expect(await readParts(sign({}, { head: elsewhere }))).toMatchObject({ ok: false, fault: 'homeless' });
  expect(await readParts(sign({}, { head: { ...head, size: 9 } }))).toMatchObject({ ok: false, fault: 'homeless' });
  expect(await readParts(sign({}, { name: 'claims' }))).toMatchObject({ ok: true, name: 'claims' });
});

it('is named by the verification of the ledger if it is forged', async () => {
  const { ledger, by, head, texts } = await scene();
  const { store } = ledger;
  const options = { project: 'demo', verifier: nodeVerifier };
  await store.state?.write(signParts(by, { name: NAME, head }, each(bytesOf(texts))));
  expect(await verifyLedger(store, options)).toMatchObject({ ok: true });
  await store.state?.write(signParts({ ...by, signer: testSigner(9) }, { name: NAME, head }, each(bytesOf(texts))));
  expect(await verifyLedger(store, options)).toMatchObject({
    ok: false,
    findings: [{ problem: { code: 'ledger/forged-snapshot' } }],
  });
});
