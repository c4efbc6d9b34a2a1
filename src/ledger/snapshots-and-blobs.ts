import { accepted, type Parsed, refused } from '../protocol/shape/problem.ts';
import { parseHex, sameBytes, toBase64, toHex } from './format/bytes.ts';
import type { Json, JsonObject } from './format/canonical-json.ts';
import { findSigningKey, type NoteKey, originOf, parseNote, signNote } from './format/checkpoint.ts';
import type { Sha256, Signer, Verifier } from './format/crypto.ts';
import { LEDGER_LIMITS, refuse } from './format/limits.ts';
import { redactText } from './redact.ts';
import { hasHead, type Head, type Snapshot, type Store, StoreProblem } from './store.ts';

/** Stores data too large for an entry and returns its name. The caller stores it before it records the entry. */
export async function storeBlob(store: Store, sha256: Sha256, bytes: Uint8Array): Promise<Parsed<string>> {
  if (bytes.length > LEDGER_LIMITS.blobBytes) {
    const message = `blob too large: ${bytes.length} bytes > ${LEDGER_LIMITS.blobBytes} bytes maximum`;
    return refuse('ledger/blob-too-large', message, 'Store a part of it, such as the end.');
  }
  const hash = sha256(bytes);
  return tryWrite(store.putBlob(hash, bytes), blobName(hash));
}

/** Stores text of agents and tools as a blob, redacted like an entry. */
export async function storeTextBlob(
  store: Store,
  sha256: Sha256,
  text: string,
  secrets: readonly string[] = [],
): Promise<Parsed<string>> {
  return storeBlob(store, sha256, encoder.encode(redactText(text.toWellFormed(), secrets)));
}

/** Returns the blob if its bytes still match the hash. */
export async function findBlob(store: Store, sha256: Sha256, name: string): Promise<Uint8Array | undefined> {
  const hash = parseBlobName(name);
  const bytes = hash && (await store.findBlob(hash));
  return bytes && sameBytes(sha256(bytes), hash) ? bytes : undefined;
}

/** Signs and stores a folded state; replaces the previous snapshot of that name. */
export async function storeSnapshot(
  store: Store,
  by: SnapshotSigner,
  name: string,
  head: Head,
  state: Uint8Array,
): Promise<Parsed<void>> {
  if (state.length > LEDGER_LIMITS.snapshotBytes) {
    const message = `snapshot too large: ${state.length} bytes > ${LEDGER_LIMITS.snapshotBytes} bytes maximum`;
    return refuse('ledger/snapshot-too-large', message, 'No data is lost: the next start takes longer.');
  }
  return tryWrite(store.saveSnapshot(name, signSnapshot(by, name, head, state)), undefined);
}

export type FoundSnapshot =
  | { readonly ok: true; readonly head: Head; readonly state: Uint8Array }
  /** `homeless`: the ledger does not contain the snapshot's entry. */
  | { readonly ok: false; readonly fault: SnapshotFault | 'homeless' };

/**
 * Returns the state and its entry; undefined if there is no snapshot; or the fault of a snapshot that must not be used.
 */
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
  const isHome = await hasHead(store, snapshot);
  return isHome ? { ok: true, head: { size, hash }, state: opened.state } : { ok: false, fault: 'homeless' };
}

async function tryWrite<T>(writing: Promise<void>, value: T): Promise<Parsed<T>> {
  try {
    await writing;
    return accepted(value);
  } catch (error) {
    if (error instanceof StoreProblem) return refused(error.problem);
    const what = error instanceof Error ? error.message : String(error);
    return refuse('ledger/cannot-write', `the store cannot write it: ${what}`, 'Free disk space, and try again.');
  }
}

export interface SnapshotSigner {
  readonly sha256: Sha256;
  readonly project: string;
  readonly signer: Signer;
}

export interface SnapshotTrust {
  readonly project: string;
  readonly verifier: Verifier;
  readonly keys: readonly NoteKey[];
}

/**
 * Faults: `unsigned` is an earlier format, `damaged` is not a snapshot, `foreign` has no signature by a key of the
 * ledger.
 */
export type SnapshotFault = 'unsigned' | 'damaged' | 'foreign';

type VerifiedSnapshot =
  | { readonly ok: true; readonly state: Uint8Array }
  | { readonly ok: false; readonly fault: SnapshotFault };

/** Renders the length of the note, the note, and the state. A faulty snapshot is discarded and folded again. */
export function signSnapshot(by: SnapshotSigner, name: string, head: Head, state: Uint8Array): Snapshot {
  const origin = originOf(by.project);
  const text = renderText(by.sha256, by.project, name, head, state);
  const note = encoder.encode(signNote(by.sha256, text, origin, by.signer));
  const bytes = new Uint8Array(LENGTH_BYTES + note.length + state.length);
  new DataView(bytes.buffer).setUint32(0, note.length);
  bytes.set(note, LENGTH_BYTES);
  bytes.set(state, LENGTH_BYTES + note.length);
  return { size: head.size, hash: head.hash, bytes };
}

/** Returns the state if a trusted key signed exactly this. The caller checks the entry. */
async function verifySnapshot(trust: SnapshotTrust, name: string, snapshot: Snapshot): Promise<VerifiedSnapshot> {
  const { sha256 } = trust.verifier;
  const parts = split(snapshot.bytes);
  const note = parts === undefined ? undefined : parseNote(decoder.decode(parts.note));
  if (parts === undefined || note === undefined || !note.ok)
    return { ok: false, fault: isUnsigned(sha256, name, snapshot) ? 'unsigned' : 'damaged' };
  const { state } = parts;
  // Renders the expected note and compares; no value of the note itself is trusted.
  if (note.value.text !== renderText(sha256, trust.project, name, snapshot, state))
    return { ok: false, fault: 'foreign' };
  const key = await findSigningKey(trust.verifier, note.value, trust.keys);
  return key === undefined || note.value.signatures.length > 1 ? { ok: false, fault: 'foreign' } : { ok: true, state };
}

const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The second line differs from that of a checkpoint, so that a signature of one is never valid for the other. */
function renderText(sha256: Sha256, project: string, name: string, { size, hash }: Head, state: Uint8Array): string {
  const lines = [originOf(project), `snapshot ${JSON.stringify(name)}`, size, toBase64(hash), toBase64(sha256(state))];
  return `${lines.join('\n')}\n`;
}

function split(bytes: Uint8Array): { readonly note: Uint8Array; readonly state: Uint8Array } | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (end > bytes.length || end > LENGTH_BYTES + LEDGER_LIMITS.noteBytes) return undefined;
  return { note: bytes.subarray(LENGTH_BYTES, end), state: bytes.subarray(end) };
}

/** Recognises the earlier format: a digest of name, entry and state before the state. */
function isUnsigned(sha256: Sha256, name: string, { size, hash, bytes }: Snapshot): boolean {
  const place = encoder.encode(`${JSON.stringify(name)} ${size}\n`);
  const whole = new Uint8Array(place.length + 2 * DIGEST_BYTES);
  whole.set(place);
  whole.set(hash.subarray(0, DIGEST_BYTES), place.length);
  whole.set(sha256(bytes.subarray(DIGEST_BYTES)), place.length + DIGEST_BYTES);
  return sameBytes(sha256(whole), bytes.subarray(0, DIGEST_BYTES));
}

/** Names used before snapshots were signed. An unsigned snapshot under any other name is forged. */
export function isUnsignedSnapshotName(name: string): boolean {
  return /^state-[1-9]$/.test(name);
}

/** The name of a blob in an entry, in a field called `blob` or ending in `_blob`. */
export function blobName(hash: Uint8Array): string {
  return `sha256:${toHex(hash)}`;
}

function parseBlobName(name: string): Uint8Array | undefined {
  return /^sha256:[0-9a-f]{64}$/.test(name) ? parseHex(name.slice(7)) : undefined;
}

/** Returns every blob that an entry names. Only fields for blobs count, never an agent's text. */
export function blobsNamedIn(data: Json): readonly Uint8Array[] {
  if (typeof data !== 'object' || data === null) return NONE;
  if (isArray(data)) return data.map(blobsNamedIn).reduce(join, NONE);
  let found = NONE;
  for (const key in data) {
    const child = data[key];
    if (typeof child === 'object') found = join(found, blobsNamedIn(child));
    if (typeof child !== 'string' || !/(?:^|_)blob$/.test(key)) continue;
    const hash = parseBlobName(child);
    if (hash) found = join(found, [hash]);
  }
  return found;
}

const NONE: readonly Uint8Array[] = [];

function join(a: readonly Uint8Array[], b: readonly Uint8Array[]): readonly Uint8Array[] {
  if (b.length === 0) return a;
  return a.length === 0 ? b : a.concat(b);
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
