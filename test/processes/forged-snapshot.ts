import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { signSnapshot } from '../../src/ledger/snapshots-and-blobs.ts';
import { signParts } from '../../src/ledger/state-parts.ts';
import { PartsFile } from '../../src/ledger/sqlite/parts-file.ts';
import type { Head } from '../../src/ledger/store.ts';
import { nodeSha256 } from '../../src/ledger/writer/keys.ts';
import { testSigner } from '../../src/ledger/writer/ledger.cases.ts';

/** The parts of the stored snapshot: a header, the state, and the note that signs them. */
export interface StoredParts {
  readonly header: Uint8Array;
  readonly state: readonly Uint8Array[];
  readonly note: Uint8Array;
}

/** Replaces the snapshot, like an attacker who can write to the state folder. */
export async function replaceSnapshot(
  ledgerFile: string,
  forge: (parts: StoredParts) => AsyncIterable<Uint8Array>,
): Promise<void> {
  await new PartsFile(snapshotFile(ledgerFile)).write(forge(await readParts(ledgerFile)));
}

export function snapshotFile(ledgerFile: string): string {
  return `${ledgerFile}.state`;
}

async function readParts(ledgerFile: string): Promise<StoredParts> {
  const parts: Uint8Array[] = [];
  const stored = await new PartsFile(snapshotFile(ledgerFile)).read();
  if (stored === undefined) throw new Error('the daemon left no snapshot');
  for await (const part of stored) parts.push(Uint8Array.from(part));
  const [header, note] = [parts.shift(), parts.pop()];
  if (header === undefined || note === undefined) throw new Error('the snapshot has no note');
  return { header, state: parts, note };
}

/** The entry of the snapshot. */
export function headOf({ header }: StoredParts): Head {
  const { size, hash } = JSON.parse(Buffer.from(header).toString()) as { readonly size: number; readonly hash: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { size, hash: Buffer.from(hash, 'base64') };
}

/** The attacker's state: the task is done, although no entry records that. */
export function markDone({ state }: StoredParts): readonly Uint8Array[] {
  return state.map((part) => Buffer.from(Buffer.from(part).toString().replace('"phase":"IMPLEMENTATION"', DONE)));
}

const DONE = '"phase":"COMPLETED"';

/** The note that the daemon signed, after another state. */
export async function* withOldNote(parts: StoredParts): AsyncGenerator<Uint8Array> {
  yield parts.header;
  yield* markDone(parts);
  yield parts.note;
}

/** Another state, signed with a key. */
export function signedBy(by: Parameters<typeof signParts>[0], name: string) {
  return (parts: StoredParts): AsyncIterable<Uint8Array> => {
    const forged = async function* () {
      yield* markDone(parts);
    };
    return signParts(by, { name, head: headOf(parts) }, forged());
  };
}

/** Shortens the file, as a torn write would. */
export function shorten(ledgerFile: string): void {
  const path = snapshotFile(ledgerFile);
  writeFileSync(path, readFileSync(path).subarray(0, -7));
}

/** Adds a snapshot of an earlier format to the database, signed by a stranger. */
export async function plantRow(ledgerFile: string, name: string, project: string): Promise<void> {
  const head = headOf(await readParts(ledgerFile));
  const by = { sha256: nodeSha256, project, signer: testSigner(9) };
  const { size, hash, bytes } = signSnapshot(by, name, head, Buffer.from('{}'));
  const db = new DatabaseSync(ledgerFile);
  db.prepare('INSERT INTO snapshot (name, size, hash, bytes) VALUES (?, ?, ?, ?)').run(name, size, hash, bytes);
  db.close();
}
