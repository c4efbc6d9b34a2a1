import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { parseBase64, sameBytes, toBase64, toHex } from './bytes.ts';
import type { Sha256, Signer, Verifier } from './crypto.ts';
import { LEDGER_LIMITS, refuse } from './limits.ts';
import type { TreeHead } from './merkle.ts';

/** A C2SP `tlog-checkpoint`. An extension line has the previous size, so that a removed checkpoint is noticed. */
export interface Checkpoint extends TreeHead {
  readonly origin: string;
  readonly previous: number;
  readonly note: Note;
}

export function originOf(project: string): string {
  return `baton/${project}`;
}

export function signCheckpoint(
  sha256: Sha256,
  project: string,
  tree: TreeHead,
  previous: number,
  signer: Signer,
): string {
  const origin = originOf(project);
  return signNote(sha256, renderCheckpoint(origin, tree, previous), origin, signer);
}

export function renderCheckpoint(origin: string, tree: TreeHead, previous: number): string {
  return `${origin}\n${tree.size}\n${toBase64(tree.root)}\nprevious ${previous}\n`;
}

/** Accepts only the form that `signCheckpoint` writes: other lines would be bytes that no check covers. */
export function parseCheckpoint(text: string): Parsed<Checkpoint> {
  const note = parseNote(text);
  if (!note.ok) return note;
  const [origin = '', sizeText = '', rootText = '', previousText = ''] = note.value.text.split('\n');
  const size = Number(sizeText);
  const root = parseBase64(rootText);
  const previous = Number(previousText.replace('previous ', ''));
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(previous) || root?.length !== 32) {
    return notACheckpoint();
  }
  if (previous < 0 || previous > size) return notACheckpoint();
  // Rendering the parsed values again rejects every other spelling.
  if (renderCheckpoint(origin, { size, root }, previous) !== note.value.text) return notACheckpoint();
  return accepted({ origin, size, root, previous, note: note.value });
}

function notACheckpoint(): Parsed<Checkpoint> {
  return refuse(
    'ledger/bad-checkpoint',
    'the signed note is not a checkpoint of a ledger',
    'It has four lines (origin, size, root, previous) before its signatures.',
  );
}

/** A C2SP signed note: text that ends with a newline, an empty line, and one line per signature. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly [NoteSignature, ...NoteSignature[]];
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

export interface NoteKey {
  readonly name: string;
  readonly publicKey: Uint8Array;
}

const ED25519 = 0x01;
const encoder = new TextEncoder();

export function signNote(sha256: Sha256, text: string, name: string, signer: Signer): string {
  const id = ownKeyId(sha256, name, signer);
  const signature = signer.sign(encoder.encode(text));
  const line = new Uint8Array(id.length + signature.length);
  line.set(id);
  line.set(signature, id.length);
  return `${text}\n— ${name} ${toBase64(line)}\n`;
}

/** Key ids per signer and name: a signer signs many notes under few names. */
const ownIds = new WeakMap<Signer, Map<string, Uint8Array>>();

function ownKeyId(sha256: Sha256, name: string, signer: Signer): Uint8Array {
  const ids = ownIds.get(signer) ?? new Map<string, Uint8Array>();
  ownIds.set(signer, ids);
  const id = ids.get(name) ?? keyId(sha256, { name, publicKey: signer.publicKey });
  ids.set(name, id);
  return id;
}

export function parseNote(note: string): Parsed<Note> {
  if (note.length > LEDGER_LIMITS.noteBytes) return notANote('it is too long');
  const split = note.lastIndexOf('\n\n');
  if (split < 0 || !note.endsWith('\n')) return notANote('it has no signature block');
  const lines = note.slice(split + 2, -1).split('\n');
  const signatures = lines.map(parseSignatureLine);
  const [first, ...rest] = signatures.filter((signature) => signature !== undefined);
  if (!first || signatures.includes(undefined)) return notANote('a signature line is malformed');
  return accepted({ text: note.slice(0, split + 1), signatures: [first, ...rest] });
}

/** Returns the key with a valid signature of this note. Signatures of unknown keys are skipped, as C2SP asks. */
export async function findSigningKey(
  verifier: Verifier,
  note: Note,
  keys: readonly NoteKey[],
): Promise<NoteKey | undefined> {
  for (const key of keys) {
    const id = keyId(verifier.sha256, key);
    const line = note.signatures.find((each) => each.name === key.name && sameBytes(each.keyId, id));
    if (!line) continue;
    if (await verifier.verifyEd25519(key.publicKey, encoder.encode(note.text), line.signature)) return key;
  }
  return undefined;
}

/** The first four bytes of SHA-256(name ‖ newline ‖ algorithm ‖ public key). */
export function keyId(sha256: Sha256, key: NoteKey): Uint8Array {
  return sha256(Uint8Array.of(...encoder.encode(`${key.name}\n`), ED25519, ...key.publicKey)).slice(0, 4);
}

/** A key as Go's tools write it: `name+id+base64`. Operators compare it and pass it to `baton verify --key`. */
export function renderKey(sha256: Sha256, key: NoteKey): string {
  return `${key.name}+${toHex(keyId(sha256, key))}+${toBase64(Uint8Array.of(ED25519, ...key.publicKey))}`;
}

export function parseKey(sha256: Sha256, text: string): Parsed<NoteKey> {
  const [name = '', , ...rest] = text.split('+');
  // Base64 may contain a plus.
  const bytes = parseBase64(rest.join('+'));
  if (!isKeyName(name) || bytes?.length !== 33 || bytes[0] !== ED25519) return notAKey();
  const key = { name, publicKey: bytes.slice(1) };
  return renderKey(sha256, key) === text ? accepted(key) : notAKey();
}

function isKeyName(name: string): boolean {
  return /^[^\s+\p{Cc}]+$/u.test(name);
}

function parseSignatureLine(line: string): NoteSignature | undefined {
  const [dash, name = '', base64 = '', ...rest] = line.split(' ');
  const bytes = parseBase64(base64);
  if (dash !== '—' || rest.length > 0 || !isKeyName(name) || !bytes || bytes.length < 5) return undefined;
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
}

function notANote(what: string): Parsed<Note> {
  return refuse(
    'ledger/bad-note',
    `this is not a signed note: ${what}`,
    'Compare the checkpoint with a copy from another place.',
  );
}

function notAKey(): Parsed<NoteKey> {
  return refuse(
    'ledger/bad-key',
    'this is not a public key of a ledger',
    'It has the form name+id+base64; `baton ledger verify --json` prints it.',
  );
}
