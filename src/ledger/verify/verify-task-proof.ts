import { accepted, refused, type Parsed } from '../../protocol/shape/problem.ts';
import { parseBase64 } from '../format/base64.ts';
import { canonicalJson } from '../format/canonical-json.ts';
import { originOf, parseCheckpoint, type Checkpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { isProject, parseEntry, type Entry } from '../format/entry.ts';
import { ledgerProblem } from '../format/ledger-problem.ts';
import { leafHash } from '../format/merkle.ts';
import { findSigningKey, parseKey } from '../format/note.ts';
import { verifyInclusion } from '../format/proof.ts';
import { TASK_PROOF_KIND, taskIdOf } from './task-proof.ts';

export interface ProvenTask {
  readonly project: string;
  readonly taskId: string;
  readonly entries: readonly Entry[];
  /** The size of the ledger when the proof was made. */
  readonly size: number;
  /** Who signed: to be compared with a key from elsewhere, unless one was given. */
  readonly key: string;
}

const encoder = new TextEncoder();
const FIELDS = ['checkpoint', 'entries', 'key', 'kind', 'project', 'task_id', 'v'];

/**
 * Checks a task proof with nothing but the public key: every entry is in the tree that the key has signed. That none is
 * missing it cannot say; for that there is the whole ledger.
 */
export async function verifyTaskProof(
  verifier: Verifier,
  value: unknown,
  knownKey?: string,
): Promise<Parsed<ProvenTask>> {
  if (!isRecord(value) || Object.keys(value).sort().join() !== FIELDS.join()) {
    return bad(`its fields are not ${FIELDS.join(', ')}`);
  }
  const { kind, v, project, task_id: taskId, key, checkpoint, entries } = value;
  if (kind !== TASK_PROOF_KIND || v !== 1) return bad(`it is not a ${TASK_PROOF_KIND} of version 1`);
  if (!isProject(project) || typeof taskId !== 'string') return bad('it names no project or no task');
  if (typeof key !== 'string' || typeof checkpoint !== 'string') return bad('it has no key or no checkpoint');
  if (!Array.isArray(entries) || entries.length === 0) return bad('it has no entries');
  if (knownKey !== undefined && key !== knownKey) return bad('it is signed by another key than the given one');
  const tree = await checkSignature(verifier, project, key, checkpoint);
  if (!tree.ok) return tree;
  const proven: Entry[] = [];
  for (const each of entries) {
    const entry = checkEntry(verifier, tree.value, each);
    if (!entry.ok) return entry;
    const { seq, data } = entry.value;
    if (seq <= (proven.at(-1)?.seq ?? 0)) return bad(`entry ${seq} is out of order`);
    if (entry.value.project !== project || taskIdOf(data) !== taskId) {
      return bad(`entry ${seq} is about something else`);
    }
    proven.push(entry.value);
  }
  return accepted({ project, taskId, entries: proven, size: tree.value.size, key });
}

async function checkSignature(
  verifier: Verifier,
  project: string,
  keyText: string,
  note: string,
): Promise<Parsed<Checkpoint>> {
  const key = parseKey(verifier.sha256, keyText);
  if (!key.ok) return key;
  const checkpoint = parseCheckpoint(note);
  if (!checkpoint.ok) return checkpoint;
  const origin = originOf(project);
  if (checkpoint.value.origin !== origin || key.value.name !== origin) {
    return bad('its checkpoint belongs to another ledger');
  }
  const signed = await findSigningKey(verifier, checkpoint.value.note, [key.value]);
  return signed ? checkpoint : bad('the signature of its checkpoint is wrong');
}

function checkEntry(verifier: Verifier, tree: Checkpoint, value: unknown): Parsed<Entry> {
  if (!isRecord(value) || Object.keys(value).sort().join() !== 'entry,proof' || !Array.isArray(value.proof)) {
    return bad('an entry is not {entry, proof}');
  }
  const text = canonicalJson(value.entry);
  if (!text.ok) return text;
  const bytes = encoder.encode(text.value);
  const entry = parseEntry(bytes);
  if (!entry.ok) return entry;
  const proof = value.proof.map((hash: unknown) => (typeof hash === 'string' ? parseBase64(hash) : undefined));
  const hashes = proof.filter((hash) => hash !== undefined);
  const leaf = leafHash(verifier.sha256, bytes);
  const { seq } = entry.value;
  if (hashes.length !== proof.length || !verifyInclusion(verifier.sha256, leaf, seq - 1, tree, hashes)) {
    return bad(`entry ${seq} is not in the ledger that was signed`);
  }
  return entry;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(what: string): Parsed<never> {
  return refused(
    ledgerProblem('ledger/bad-proof', `this proof does not hold: ${what}`, 'Ask for it again where the ledger is.'),
  );
}
