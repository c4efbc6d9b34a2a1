import { accepted, refused, type Parsed } from '../protocol/shape/problem.ts';
import { blobName, parseBlobName } from './blob.ts';
import type { Sha256 } from './format/crypto.ts';
import { sameBytes } from './format/bytes.ts';
import { ledgerProblem } from './format/ledger-problem.ts';
import { LEDGER_LIMITS } from './format/limits.ts';
import { redactText } from './redact.ts';
import {
  verifySnapshot,
  signSnapshot,
  type SnapshotFault,
  type SnapshotSigner,
  type SnapshotTrust,
} from './snapshot.ts';
import { StoreProblem } from './store-problem.ts';
import type { Head, Store } from './store.ts';

const textEncoder = new TextEncoder();

/** Keeps what is too large for an entry, and gives back the name that the entry holds. Keep first, record second. */
export async function storeBlob(store: Store, sha256: Sha256, bytes: Uint8Array): Promise<Parsed<string>> {
  if (bytes.length > LEDGER_LIMITS.blobBytes) {
    const message = `blob too large: ${bytes.length} bytes > ${LEDGER_LIMITS.blobBytes} bytes maximum`;
    return refused(ledgerProblem('ledger/blob-too-large', message, 'Keep the end of it, or a part.'));
  }
  const hash = sha256(bytes);
  return tryWrite(store.putBlob(hash, bytes), blobName(hash));
}

/** The same for text of agents and tools: a log must not carry into a blob what an entry would not take. */
export async function storeTextBlob(
  store: Store,
  sha256: Sha256,
  text: string,
  secrets: readonly string[] = [],
): Promise<Parsed<string>> {
  return storeBlob(store, sha256, textEncoder.encode(redactText(text.toWellFormed(), secrets)));
}

/** The blob of that name, checked again: a byte that changed on the disk is as good as none. */
export async function findBlob(store: Store, sha256: Sha256, name: string): Promise<Uint8Array | undefined> {
  const hash = parseBlobName(name);
  const bytes = hash && (await store.findBlob(hash));
  return bytes && sameBytes(sha256(bytes), hash) ? bytes : undefined;
}

/** Keeps a folded state that stands on an entry, signed, in place of an older one of the same name. */
export async function storeSnapshot(
  store: Store,
  by: SnapshotSigner,
  name: string,
  head: Head,
  state: Uint8Array,
): Promise<Parsed<void>> {
  if (state.length > LEDGER_LIMITS.snapshotBytes) {
    const message = `snapshot too large: ${state.length} bytes > ${LEDGER_LIMITS.snapshotBytes} bytes maximum`;
    return refused(ledgerProblem('ledger/snapshot-too-large', message, 'Nothing is lost: the start takes longer.'));
  }
  return tryWrite(store.saveSnapshot(name, signSnapshot(by, name, head, state)), undefined);
}

export type FoundSnapshot =
  | { readonly ok: true; readonly head: Head; readonly state: Uint8Array }
  /** `homeless`: the entry that it stands on is not in the ledger. */
  | { readonly ok: false; readonly fault: SnapshotFault | 'homeless' };

/** The state and the entry that it stands on; undefined if there is no snapshot, and the fault if it must not be read. */
export async function findSnapshot(
  store: Store,
  trust: SnapshotTrust,
  name: string,
): Promise<FoundSnapshot | undefined> {
  const snapshot = await store.findSnapshot(name);
  if (snapshot === undefined) return undefined;
  const opened = await verifySnapshot(trust, name, snapshot);
  if (!opened.ok) return opened;
  const { size, hash } = snapshot;
  const found = { ok: true, head: { size, hash }, state: opened.state } as const;
  if (size === 0) return found;
  for await (const [stored] of store.hashes({ from: size, to: size })) {
    if (stored && sameBytes(stored, hash)) return found;
  }
  return { ok: false, fault: 'homeless' };
}

async function tryWrite<T>(writing: Promise<void>, value: T): Promise<Parsed<T>> {
  try {
    await writing;
    return accepted(value);
  } catch (error) {
    if (error instanceof StoreProblem) return refused(error.problem);
    const what = error instanceof Error ? error.message : String(error);
    return refused(
      ledgerProblem('ledger/cannot-write', `the store cannot keep it: ${what}`, 'Make room, and try again.'),
    );
  }
}
