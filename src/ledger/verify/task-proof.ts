import { accepted, refused, type Parsed } from '../../protocol/shape/problem.ts';
import { toBase64 } from '../format/base64.ts';
import type { JsonObject } from '../format/canonical-json.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { parseEntry, type Entry } from '../format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import { findSigningKey, parseKey, renderKey, type NoteKey } from '../format/note.ts';
import type { Store, StoredEntry } from '../store.ts';
import { Tree } from '../format/tree.ts';
import { KEY_ADDED } from './keyring.ts';

export const TASK_PROOF_KIND = 'baton-task-proof';

/** One file that proves what a ledger says about one task, to somebody who has nothing but the public key. */
export interface TaskProof {
  readonly kind: typeof TASK_PROOF_KIND;
  readonly v: 1;
  readonly project: string;
  readonly task_id: string;
  /** The public key, as `name+id+base64`. It is here to be compared with one from elsewhere, not to be believed. */
  readonly key: string;
  readonly checkpoint: string;
  readonly entries: readonly ProvenEntry[];
}

export interface ProvenEntry {
  readonly entry: Entry;
  /** The hashes beside the way from the entry up to the root, in base64. */
  readonly proof: readonly string[];
}

/** Collects every entry of a task (`data.task_id`) up to the newest checkpoint, with its inclusion proof. */
export async function makeTaskProof(
  store: Store,
  verifier: Verifier,
  project: string,
  taskId: string,
): Promise<Parsed<TaskProof>> {
  const newest = await store.findCheckpoint();
  const checkpoint = newest && parseCheckpoint(newest.note);
  if (!checkpoint?.ok) return unproven('the ledger has no signed checkpoint yet');
  const { size, note } = checkpoint.value;
  const { entries, keys } = await collect(store, verifier, size, taskId);
  const key = await findSigningKey(verifier, note, keys);
  if (!key) return unproven('no trusted key has signed the newest checkpoint');
  if (entries.length === 0) return unproven(`the ledger has no entry about the task ${taskId}`, SEE_TASKS);
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

/** Reads every entry once. Only those that can matter are parsed; an index would cost every append. */
async function collect(
  store: Store,
  verifier: Verifier,
  size: number,
  taskId: string,
): Promise<{ entries: Entry[]; keys: NoteKey[] }> {
  const entries: Entry[] = [];
  const keys: NoteKey[] = [];
  const marks = [`"task_id":${JSON.stringify(taskId)}`, `"type":"${KEY_ADDED}"`];
  for await (const batch of store.entries({ from: 1, to: size })) {
    for (const entry of batch.flatMap((stored) => parseMarked(stored, marks))) {
      if (taskIdOf(entry.data) === taskId) entries.push(entry);
      if (entry.type !== KEY_ADDED || typeof entry.data.key !== 'string') continue;
      const key = parseKey(verifier.sha256, entry.data.key);
      if (key.ok) keys.push(key.value);
    }
  }
  return { entries, keys };
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

const SEE_TASKS = 'See the tasks: baton task list --limit 1000';

function unproven(what: string, hint = DO_NOT_WRITE): Parsed<TaskProof> {
  return refused(ledgerProblem('ledger/no-proof', `there is no proof: ${what}`, hint));
}
