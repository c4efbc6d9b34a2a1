import { describe, expect, it } from 'vitest';
import { LEDGER_LIMITS } from './format/limits.ts';
import { MemoryStore } from './memory-store.ts';
import {
  blobsNamedIn,
  findBlob,
  findSnapshot,
  signSnapshot,
  storeBlob,
  storeSnapshot,
  storeTextBlob,
} from './snapshots-and-blobs.ts';
import { storeState } from './state-parts.ts';
import type { Head, Snapshot } from './store.ts';
import { verifyLedger } from './verify/verify-ledger.ts';
import { refoldSnapshot, type StateFold } from './verify/verify-snapshots.ts';
import { nodeSha256, nodeVerifier } from './writer/keys.ts';
import { openTestLedger, record, testDraft, testSigner } from './writer/ledger.cases.ts';

describe('a blob', () => {
  it('is kept under a name that an entry can hold', async () => {
    const store = new MemoryStore();
    const name = await storeBlob(store, nodeSha256, Buffer.from('a long log'));
    if (!name.ok) throw new Error(name.problems[0].message);
    expect(name.value).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(Buffer.from((await findBlob(store, nodeSha256, name.value)) ?? []).toString()).toBe('a long log');
    expect(blobsNamedIn({ list: [{ log_blob: name.value }], blob: name.value, note: name.value })).toHaveLength(2);
  });

  it('of text loses its credentials', async () => {
    const store = new MemoryStore();
    const name = await storeTextBlob(store, nodeSha256, `clone with glpat-${'x1'.repeat(12)} \ud800`);
    const kept = name.ok ? await findBlob(store, nodeSha256, name.value) : undefined;
    expect(new TextDecoder().decode(kept)).toBe('clone with [redacted:gitlab-token] \ufffd');
  });

  it('is not found under a wrong name, or when it has changed', async () => {
    const store = new MemoryStore();
    const bytes = Buffer.from('content');
    const name = await storeBlob(store, nodeSha256, bytes);
    expect(await findBlob(store, nodeSha256, 'sha256:abc')).toBeUndefined();
    bytes[0] = 0;
    expect(await findBlob(store, nodeSha256, name.ok ? name.value : '')).toBeUndefined();
  });

  it('has a limit', async () => {
    const large = new Uint8Array(LEDGER_LIMITS.blobBytes + 1);
    expect(await storeBlob(new MemoryStore(), nodeSha256, large)).toMatchObject({ ok: false });
  });
});

const NAME = 'tasks';

async function saved(state = 'state') {
  const ledger = await openTestLedger();
  const { store, head, snapshotSigner, snapshotTrust } = ledger;
  await storeSnapshot(store, snapshotSigner, NAME, head, Buffer.from(state));
  const snapshot = await store.findSnapshot(NAME);
  if (!snapshot) throw new Error('the snapshot is gone');
  return { ledger, store, head, by: snapshotSigner, trust: snapshotTrust, snapshot };
}

describe('a snapshot', () => {
  it('is found with its entry, and the newest wins', async () => {
    const { ledger, store, by, trust } = await saved('old');
    await record(ledger, [testDraft(1)]);
    await storeSnapshot(store, by, NAME, ledger.head, Buffer.from('new'));
    const found = await findSnapshot(store, trust, NAME);
    expect(found?.ok === true ? Buffer.from(found.state).toString() : found).toBe('new');
    expect(found).toMatchObject({ head: ledger.head });
    expect(await findSnapshot(store, trust, 'claims')).toBeUndefined();
  });

  it('is refused if its entry differs or is missing', async () => {
    const { store, head, by, trust } = await saved();
    for (const other of [
      { size: 1, hash: nodeSha256(Buffer.of(1)) },
      { ...head, size: 9 },
    ]) {
      await storeSnapshot(store, by, NAME, other, Buffer.from('state'));
      expect(await findSnapshot(store, trust, NAME)).toEqual({ ok: false, fault: 'homeless' });
    }
  });

  it('is not read if any byte of it has changed', async () => {
    const { store, trust, snapshot } = await saved();
    for (let at = 0; at < snapshot.bytes.length; at += 1) {
      const bytes = Uint8Array.from(snapshot.bytes);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await store.saveSnapshot(NAME, { ...snapshot, bytes });
      expect(await findSnapshot(store, trust, NAME), `byte ${at}`).toMatchObject({ ok: false });
    }
  });

  it('is not read unless a key of this ledger signed it, for this project, name, entry and state', async () => {
    const { ledger, store, head, by, trust, snapshot } = await saved();
    await record(ledger, [testDraft(1)]);
    const state = Buffer.from('state');
    const forged = {
      'signed by a stranger': signSnapshot({ ...by, signer: testSigner(9) }, NAME, head, state),
      'signed for another project': signSnapshot({ ...by, project: 'other' }, NAME, head, state),
      'signed under another name': signSnapshot(by, 'claims', head, state),
      'moved to another entry': { ...snapshot, ...ledger.head },
      'with another state': { ...snapshot, bytes: Buffer.concat([snapshot.bytes, Buffer.of(32)]) },
      'with the signature of a checkpoint': {
        ...snapshot,
        bytes: withNote((await store.findCheckpoint())?.note ?? '', state),
      },
    };
    for (const [how, each] of Object.entries(forged)) {
      await store.saveSnapshot(NAME, each);
      expect(await findSnapshot(store, trust, NAME), `forged: ${how}`).toEqual({ ok: false, fault: 'foreign' });
      const verified = await verifyLedger(store, { project: 'demo', verifier: nodeVerifier });
      expect(verified, `forged: ${how}`).toMatchObject({
        ok: false,
        findings: [{ problem: { code: 'ledger/forged-snapshot' } }],
      });
    }
  });

  it('without a signature is a warning under the name of an earlier version, and forged under any other', async () => {
    const { store, head, trust } = await saved();
    await store.dropSnapshot(NAME);
    await store.saveSnapshot('state-9', unsigned('state-9', head, Buffer.from('{}')));
    expect(await findSnapshot(store, trust, 'state-9')).toEqual({ ok: false, fault: 'unsigned' });
    const options = { project: 'demo', verifier: nodeVerifier };
    expect(await verifyLedger(store, options)).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('the snapshot state-9 is not signed')],
    });
    await store.saveSnapshot('state-10', unsigned('state-10', head, Buffer.from('{}')));
    expect(await verifyLedger(store, options)).toMatchObject({
      ok: false,
      findings: [{ problem: { message: 'the snapshot state-10 is forged: it is not signed' } }],
    });
  });
});

describe('a snapshot that is signed', () => {
  const sum: StateFold = {
    name: NAME,
    begin() {
      let count = 0;
      let said = '';
      return {
        fold: () => void (count += 1),
        compare: () => ({
          add: (part) => void (said += Buffer.from(part).toString()),
          get isEqual() {
            return said === String(count);
          },
        }),
      };
    },
  };

  it('is compared with the state of the entries', async () => {
    const ledger = await openTestLedger();
    const { store, snapshotSigner: by, snapshotTrust: trust } = ledger;
    const save = async (state: string) =>
      storeState(store.state ?? new MemoryStore().state, by, { name: NAME, head: ledger.head }, partsOf(state));
    await save('1');
    await record(ledger, [testDraft(1)]);
    expect(await refoldSnapshot(store, trust, sum)).toEqual({ ok: true, entries: 1 });
    await save('7');
    expect(await refoldSnapshot(store, trust, sum)).toMatchObject({
      ok: false,
      finding: {
        problem: { code: 'ledger/forged-snapshot', message: expect.stringContaining('state of entries 1 to 2') },
      },
    });
    await store.state?.drop();
    expect(await refoldSnapshot(store, trust, sum)).toEqual({ ok: true, entries: 0 });
  });
});

async function* partsOf(text: string): AsyncGenerator<Uint8Array> {
  for (const letter of text) yield Buffer.from(letter);
}

/** The format before snapshots were signed, which anyone who can write to the database can forge. */
function unsigned(name: string, { size, hash }: Head, state: Uint8Array): Snapshot {
  const digest = nodeSha256(Buffer.concat([Buffer.from(`${JSON.stringify(name)} ${size}\n`), hash, nodeSha256(state)]));
  return { size, hash, bytes: Buffer.concat([digest, state]) };
}

function withNote(note: string, state: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(note));
  return Buffer.concat([length, Buffer.from(note), state]);
}
