import { parseBase64, toBase64 } from './format/bytes.ts';
import { findSigningKey, originOf, parseNote, signNote } from './format/checkpoint.ts';
import type { Sha256 } from './format/crypto.ts';
import type { SnapshotSigner, SnapshotTrust } from './snapshots-and-blobs.ts';
import { DamagedParts, hasHead, type Head, type PartsStore, type Store } from './store.ts';
import { fieldOf, numberOf, textOf } from '../protocol/shape/read-unknown.ts';

/**
 * Stores a folded state in parts: first a header with the entry of the state, then the parts, then a note that signs
 * all of them. No part is larger than the caller makes it, so a state of any size needs little memory.
 */
export async function storeState(
  to: PartsStore,
  by: SnapshotSigner,
  { name, head }: { readonly name: string; readonly head: Head },
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  await to.write(signParts(by, { name, head }, parts));
}

export async function* signParts(
  by: SnapshotSigner,
  { name, head }: { readonly name: string; readonly head: Head },
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const digest = new PartsDigest(by.sha256);
  const header = encoder.encode(JSON.stringify({ name, size: head.size, hash: toBase64(head.hash) }));
  digest.add(header);
  yield header;
  for await (const part of parts) {
    digest.add(part);
    yield part;
  }
  const text = renderText(by.project, { name, head }, digest.value);
  yield encoder.encode(signNote(by.sha256, text, originOf(by.project), by.signer));
}

export type StateFault = 'damaged' | 'foreign' | 'homeless';

export type ReadState =
  | { readonly ok: true; readonly name: string; readonly head: Head }
  /** `homeless`: the ledger does not contain the state's entry. */
  | { readonly ok: false; readonly name: string; readonly fault: StateFault };

/**
 * Passes each part to `onPart`, then reports whether a key of the ledger signed all of them. The caller must not use the
 * parts before that. Undefined if no state is stored.
 */
export async function readState(
  store: Pick<Store, 'hashes' | 'state'>,
  trust: SnapshotTrust,
  onPart: (part: Uint8Array, name: string) => void,
): Promise<ReadState | undefined> {
  const parts = await store.state?.read();
  if (parts === undefined) return undefined;
  const digest = new PartsDigest(trust.verifier.sha256);
  let about: { readonly name: string; readonly head: Head } | undefined;
  let last: Uint8Array | undefined;
  const add = (part: Uint8Array): void => {
    digest.add(part);
    if (about === undefined) about = parseHeader(part);
    else onPart(part, about.name);
  };
  try {
    for await (const part of parts) {
      if (last !== undefined) add(last);
      last = part;
    }
  } catch (error) {
    if (error instanceof DamagedParts) return { ok: false, name: about?.name ?? UNNAMED, fault: 'damaged' };
    throw error;
  }
  const note = last === undefined ? undefined : parseNote(decoder.decode(last));
  if (about === undefined || note === undefined || !note.ok) return { ok: false, name: UNNAMED, fault: 'damaged' };
  const { name, head } = about;
  // Renders the expected note and compares; no value of the note itself is trusted.
  const isExpected = note.value.text === renderText(trust.project, about, digest.value);
  const key = isExpected ? await findSigningKey(trust.verifier, note.value, trust.keys) : undefined;
  if (key === undefined || note.value.signatures.length > 1) return { ok: false, name, fault: 'foreign' };
  return (await hasHead(store, head)) ? { ok: true, name, head } : { ok: false, name, fault: 'homeless' };
}

const UNNAMED = 'state';

/** A chain of the parts' hashes, so that neither content, order nor number can change. */
class PartsDigest {
  readonly #sha256: Sha256;
  value: Uint8Array = new Uint8Array(32);

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  add(part: Uint8Array): void {
    const both = new Uint8Array(64);
    both.set(this.value);
    both.set(this.#sha256(part), 32);
    this.value = this.#sha256(both);
  }
}

/** The second line differs from those of checkpoints and other snapshots, so that no signature is valid for two. */
function renderText(
  project: string,
  { name, head }: { readonly name: string; readonly head: Head },
  digest: Uint8Array,
): string {
  const what = `snapshot in parts ${JSON.stringify(name)}`;
  return `${[originOf(project), what, head.size, toBase64(head.hash), toBase64(digest)].join('\n')}\n`;
}

function parseHeader(bytes: Uint8Array): { readonly name: string; readonly head: Head } {
  let header: unknown;
  try {
    header = JSON.parse(decoder.decode(bytes));
  } catch {
    throw new DamagedParts();
  }
  const hash = parseBase64(textOf(fieldOf(header, 'hash')));
  if (hash === undefined) throw new DamagedParts();
  return { name: textOf(fieldOf(header, 'name')), head: { size: numberOf(fieldOf(header, 'size')), hash } };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
