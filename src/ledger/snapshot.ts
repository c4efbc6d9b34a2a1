import { toBase64 } from './format/base64.ts';
import { originOf } from './format/checkpoint.ts';
import type { Sha256, Signer, Verifier } from './format/crypto.ts';
import { sameBytes } from './format/bytes.ts';
import { LEDGER_LIMITS } from './format/limits.ts';
import { findSigningKey, parseNote, signNote, type NoteKey } from './format/note.ts';
import type { Head, Snapshot } from './store.ts';

/** Who signs snapshots of a project. */
export interface SnapshotSigner {
  readonly sha256: Sha256;
  readonly project: string;
  readonly signer: Signer;
}

/** Whose snapshots of a project are read. */
export interface SnapshotTrust {
  readonly project: string;
  readonly verifier: Verifier;
  readonly keys: readonly NoteKey[];
}

/**
 * Why a snapshot is not read. `unsigned`: it has the form that was written before snapshots were signed; `damaged`: it has no form at
 * all; `foreign`: it is signed by no key of the ledger, or for another project, name, entry or state.
 */
export type SnapshotFault = 'unsigned' | 'damaged' | 'foreign';

export type VerifiedSnapshot =
  | { readonly ok: true; readonly state: Uint8Array }
  | { readonly ok: false; readonly fault: SnapshotFault };

/**
 * Signs a folded state together with the project, its name and the entry that it stands on. The bytes are the length of the note, the
 * note, and the state. A snapshot is derived data: if anything is wrong with it, it is discarded and the entries are folded again.
 */
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

/** The state inside, if a trusted key signed exactly this. The caller checks that the entry is still in the ledger. */
export async function verifySnapshot(
  trust: SnapshotTrust,
  name: string,
  snapshot: Snapshot,
): Promise<VerifiedSnapshot> {
  const { sha256 } = trust.verifier;
  const parts = split(snapshot.bytes);
  const note = parts === undefined ? undefined : parseNote(decoder.decode(parts.note));
  if (parts === undefined || note === undefined || !note.ok)
    return { ok: false, fault: isUnsigned(sha256, name, snapshot) ? 'unsigned' : 'damaged' };
  const { state } = parts;
  // Written again and compared: nothing in the note is read and then believed.
  if (note.value.text !== renderText(sha256, trust.project, name, snapshot, state))
    return { ok: false, fault: 'foreign' };
  const key = await findSigningKey(trust.verifier, note.value, trust.keys);
  return key === undefined || note.value.signatures.length > 1 ? { ok: false, fault: 'foreign' } : { ok: true, state };
}

const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The second line tells it from a checkpoint, so that no signature of the one passes for one of the other. */
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

/** The earlier form: a digest of name, entry and state in front of the state. */
function isUnsigned(sha256: Sha256, name: string, { size, hash, bytes }: Snapshot): boolean {
  const place = encoder.encode(`${JSON.stringify(name)} ${size}\n`);
  const whole = new Uint8Array(place.length + 2 * DIGEST_BYTES);
  whole.set(place);
  whole.set(hash.subarray(0, DIGEST_BYTES), place.length);
  whole.set(sha256(bytes.subarray(DIGEST_BYTES)), place.length + DIGEST_BYTES);
  return sameBytes(sha256(whole), bytes.subarray(0, DIGEST_BYTES));
}

/** Names under which versions before signing kept their snapshots. Under any other name an unsigned one was never honest. */
export function isUnsignedSnapshotName(name: string): boolean {
  return /^state-[1-9]$/.test(name);
}
