import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import { parseBase64, toBase64 } from '../format/bytes.ts';
import { canonicalJson, type JsonObject } from '../format/canonical-json.ts';
import {
  type Checkpoint,
  findSigningKey,
  originOf,
  parseCheckpoint,
  parseKey,
  renderKey,
} from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { type Entry, isProject, parseEntry } from '../format/entry.ts';
import { DO_NOT_WRITE, refuse } from '../format/limits.ts';
import { leafHash, verifyInclusion } from '../format/merkle.ts';
import { Tree } from '../format/tree.ts';
import type { Store, StoredEntry } from '../store.ts';
import { KEY_ADDED, KEY_REVOKED, Keyring } from './keyring.ts';

const TASK_PROOF_KIND = 'baton-task-proof';

/** A file that proves one task's recorded history to a reader who has only the public key. */
export interface TaskProof {
  readonly kind: typeof TASK_PROOF_KIND;
  readonly v: 1;
  readonly project: string;
  readonly task_id: string;
  /** The public key, as `name+id+base64`. Compare it with a trusted copy; the proof alone does not establish it. */
  readonly key: string;
  readonly checkpoint: string;
  readonly entries: readonly ProvenEntry[];
}

export interface ProvenEntry {
  readonly entry: Entry;
  /** The sibling hashes from the entry up to the root, in base64. */
  readonly proof: readonly string[];
}

type ProofStore = Pick<Store, 'findCheckpoint' | 'entries' | 'hashes' | 'tiles'>;

/** Collects every entry of a task (`data.task_id`) up to the newest checkpoint, with its inclusion proof. */
export async function makeTaskProof(
  store: ProofStore,
  verifier: Verifier,
  project: string,
  taskId: string,
): Promise<Parsed<TaskProof>> {
  const newest = await store.findCheckpoint();
  const checkpoint = newest && parseCheckpoint(newest.note);
  if (!checkpoint?.ok) return unproven('the ledger has no signed checkpoint yet');
  const { size } = checkpoint.value;
  const { entries, keyring } = await collect(store, verifier, project, size, taskId);
  const key = await keyring.findSigner(checkpoint.value);
  if (!key) return unproven('no trusted key has signed the newest checkpoint');
  if (entries.length === 0)
    return unproven(`the ledger has no entry about the task ${taskId}`, 'See the tasks: baton task list --limit 1000');
  const tree = new Tree(store, verifier.sha256, size);
  const proven: ProvenEntry[] = [];
  for (const entry of entries) {
    const proof = await tree.findInclusionProof(entry.seq - 1, size);
    if (!proof) return unproven(`the hashes around entry ${entry.seq} are missing`);
    proven.push({ entry, proof: proof.map(toBase64) });
  }
  return accepted({
    kind: TASK_PROOF_KIND,
    v: 1,
    project,
    task_id: taskId,
    key: renderKey(verifier.sha256, key),
    checkpoint: newest?.note ?? '',
    entries: proven,
  });
}

/** Reads every entry once and parses only candidates; an index would cost every append. */
async function collect(
  store: ProofStore,
  verifier: Verifier,
  project: string,
  size: number,
  taskId: string,
): Promise<{ entries: Entry[]; keyring: Keyring }> {
  const entries: Entry[] = [];
  const keyring = new Keyring(verifier, project);
  const marks = [`"task_id":${JSON.stringify(taskId)}`, `"type":"${KEY_ADDED}"`, `"type":"${KEY_REVOKED}"`];
  for await (const batch of store.entries({ from: 1, to: size })) {
    for (const stored of batch) {
      for (const entry of parseMarked(stored, marks)) {
        if (taskIdOf(entry.data) === taskId) entries.push(entry);
        keyring.read(entry);
      }
      // The newest checkpoint is signed by a key that was trusted before its commit, so its changes are not applied.
      if (stored.note !== undefined && stored.seq < size) keyring.settle();
    }
  }
  return { entries, keyring };
}

export function taskIdOf(data: JsonObject): string | undefined {
  return typeof data.task_id === 'string' ? data.task_id : undefined;
}

const decoder = new TextDecoder();

function parseMarked({ bytes }: StoredEntry, marks: readonly string[]): Entry[] {
  const text = decoder.decode(bytes);
  if (!marks.some((mark) => text.includes(mark))) return [];
  const entry = parseEntry(bytes);
  return entry.ok ? [entry.value] : [];
}

function unproven(what: string, hint = DO_NOT_WRITE): Parsed<TaskProof> {
  return refuse('ledger/no-proof', `there is no proof: ${what}`, hint);
}

export interface ProvenTask {
  readonly project: string;
  readonly taskId: string;
  readonly entries: readonly Entry[];
  readonly size: number;
  /** The signing key. Unless the caller gave a known key, compare it with a trusted copy. */
  readonly key: string;
}

const encoder = new TextEncoder();
const FIELDS = ['checkpoint', 'entries', 'key', 'kind', 'project', 'task_id', 'v'];

/**
 * Checks that the signed tree contains every entry. It cannot prove that none is missing; that needs the whole ledger.
 */
export async function verifyTaskProof(
  verifier: Verifier,
  value: unknown,
  knownKey?: string,
): Promise<Parsed<ProvenTask>> {
  if (!isObject(value) || Object.keys(value).sort().join() !== FIELDS.join()) {
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
      return bad(`entry ${seq} is about another task`);
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
  if (!isObject(value) || Object.keys(value).sort().join() !== 'entry,proof' || !Array.isArray(value.proof)) {
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

function bad(what: string): Parsed<never> {
  return refuse(
    'ledger/bad-proof',
    `this proof is not valid: ${what}`,
    'Create the proof again on the machine that has the ledger.',
  );
}
