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
import { numberWithin } from '../format/task-numbers.ts';
import { Tree } from '../format/tree.ts';
import type { Store, StoredEntry } from '../store.ts';
import { findCompleteness, type Completeness, TASK_COUNTED } from './completeness.ts';
import { KEY_ADDED, KEY_REVOKED, Keyring } from './keyring.ts';
import { isProofText, type ProvenEntry, TASK_PROOF_KIND, type TaskProof } from './proof-text.ts';

type ProofStore = Pick<Store, 'findCheckpoint' | 'entries' | 'hashes' | 'tiles'>;

/**
 * Collects the entries of a task up to its newest `TaskCounted`, with their inclusion proofs. Without entries of version
 * 2 there is no count, and the proof is of version 1.
 */
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
  const found = await collect(store, verifier, project, size, taskId);
  const key = await found.keyring.findSigner(checkpoint.value);
  if (!key) return unproven('no trusted key has signed the newest checkpoint');
  if (found.entries.length === 0)
    return unproven(`the ledger has no entry about the task ${taskId}`, 'See the tasks: baton task list --limit 1000');
  const v = found.entries.some((entry) => entry.v > 1) ? 2 : 1;
  const end = v === 1 ? size : (found.entries.findLast(({ type }) => type === TASK_COUNTED)?.seq ?? 0);
  if (end === 0) return unproven(`the entries of ${taskId} were not counted`, `Run: baton ledger prove ${taskId}`);
  const tree = new Tree(store, verifier.sha256, size);
  const proven: ProvenEntry[] = [];
  for (const entry of found.entries) {
    if (entry.seq > end) break;
    const proof = await tree.findInclusionProof(entry.seq - 1, size);
    if (!proof) return unproven(`the hashes around entry ${entry.seq} are missing`);
    proven.push({ entry, proof: proof.map(toBase64) });
  }
  return accepted({
    kind: TASK_PROOF_KIND,
    v,
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
  const id = JSON.stringify(taskId);
  const marks = [`"task_id":${id}`, `${id}:`, `"type":"${KEY_ADDED}"`, `"type":"${KEY_REVOKED}"`];
  for await (const batch of store.entries({ from: 1, to: size })) {
    for (const stored of batch) {
      for (const entry of parseMarked(stored, marks)) {
        if (isAbout(entry, taskId)) entries.push(entry);
        keyring.read(entry);
      }
      // The newest checkpoint is signed by a key that was trusted before its commit, so its changes are not applied.
      if (stored.note !== undefined && stored.seq < size) keyring.settle();
    }
  }
  return { entries, keyring };
}

/** An entry of version 1 is about the task that it names; one of version 2 about those that it numbers. */
function isAbout({ v, data, tasks }: Entry, taskId: string): boolean {
  return v === 1 ? taskIdOf(data) === taskId : numberWithin(tasks, taskId) !== undefined;
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
  /** The root of the tree that the key signed. */
  readonly root: Uint8Array;
  /** The signing key. Unless the caller gave a known key, compare it with a trusted copy. */
  readonly key: string;
  /** Undefined for a proof of version 1: entries may be missing. */
  readonly complete: Completeness | undefined;
}

const encoder = new TextEncoder();
const NO_PROOF = 'this is neither a task proof nor an export';
const FIELDS = ['checkpoint', 'entries', 'key', 'kind', 'project', 'task_id', 'v'];

/** Checks the text of a proof: the signed tree contains every entry, and from version 2 on none of the task is missing. */
export async function verifyTaskProof(
  verifier: Verifier,
  text: string,
  knownKey?: string,
): Promise<Parsed<ProvenTask>> {
  const value = parseJson(text);
  if (!isObject(value)) return refuse('ledger/bad-proof', NO_PROOF, 'Create it again.');
  if (Object.keys(value).sort().join() !== FIELDS.join()) return bad(`its fields are not ${FIELDS.join(', ')}`);
  const { kind, v, project, task_id: taskId, key, checkpoint, entries } = value;
  if (kind !== TASK_PROOF_KIND || (v !== 1 && v !== 2)) return bad(`it is not a ${TASK_PROOF_KIND} of version 1 or 2`);
  if (!isProofText(value, v, text)) return bad('its bytes are not those that Baton writes');
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
    const { seq } = entry.value;
    if (seq <= (proven.at(-1)?.seq ?? 0)) return bad(`entry ${seq} is out of order`);
    if (entry.value.project !== project || !isAbout(entry.value, taskId)) {
      return bad(`entry ${seq} is about another task`);
    }
    proven.push(entry.value);
  }
  const complete = findCompleteness(v, taskId, proven);
  if (typeof complete === 'string') return bad(complete);
  const { size, root } = tree.value;
  return accepted({ project, taskId, entries: proven, size, root, key, complete });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
