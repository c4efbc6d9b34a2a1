import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Problem } from '../../protocol/shape/problem.ts';
import { type NoteKey, parseCheckpoint } from '../format/checkpoint.ts';
import { LEDGER_LIMITS, ledgerProblem } from '../format/limits.ts';
import type { SnapshotSigner } from '../snapshots-and-blobs.ts';
import { type Commit, StoreProblem, type StoreParts } from '../store.ts';
import { copyCommits } from './copy.ts';
import { saveMark } from './replica-mark.ts';

/** How many entries a start verifies again at most. */
const ENTRIES_PER_MARK = 1_000;

interface VerifiedCommit {
  readonly commit: Commit;
  /** The trusted keys after the commit. */
  readonly keys: readonly NoteKey[];
}

/**
 * Adds verified commits to the replica, in order. Never fails its caller: a full disk must not fail a durable commit.
 */
export class ReplicaWriter {
  readonly #parts: StoreParts;
  readonly #signer: SnapshotSigner;
  readonly #queue: VerifiedCommit[] = [];
  #writing: Promise<void> | undefined;
  #problem: Problem | undefined;
  #newest: VerifiedCommit | undefined;
  #marked: { readonly size: number; readonly keys: readonly NoteKey[] };

  constructor(parts: StoreParts, signer: SnapshotSigner, marked = { size: 0, keys: [] as readonly NoteKey[] }) {
    this.#parts = parts;
    this.#signer = signer;
    this.#marked = marked;
  }

  /** Why the replica is behind; undefined if the last write succeeded. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Queues a commit. It is written after the commit's callers are answered, because they do not need the replica. */
  add(commit: Commit, keys: readonly NoteKey[]): void {
    this.#newest = { commit, keys };
    // Commits that do not fit are read from the shared store later.
    if (this.#queue.length < LEDGER_LIMITS.entriesPerBatch) this.#queue.push(this.#newest);
    this.#writing ??= this.#write();
  }

  async whenIdle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async close(): Promise<void> {
    await this.whenIdle();
    if (this.#newest && this.#problem === undefined) await this.#mark(this.#newest);
  }

  async #write(): Promise<void> {
    await nextTurn();
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#problem = await this.#append(next.commit).catch(problemOf);
      if (this.#problem) this.#queue.length = 0;
      else if (this.#isMarkOld(next)) await this.#mark(next);
    }
    this.#writing = undefined;
  }

  async #append(commit: Commit): Promise<Problem | undefined> {
    const { shared, replica } = this.#parts;
    const appended = await replica.append(commit);
    if (appended.ok) return undefined;
    if ('problem' in appended) return appended.problem;
    // After a failed write, missing commits are read from the shared store.
    const { size, entries } = { ...commit.checkpoint, ...commit };
    const last = entries.at(-1) ?? entries[0];
    const copied = await copyCommits(shared, replica, { size, hash: last.hash }, this.#signer);
    return copied.ok ? undefined : copied.problem;
  }

  #isMarkOld({ commit, keys }: VerifiedCommit): boolean {
    return keys !== this.#marked.keys || commit.checkpoint.size >= this.#marked.size + ENTRIES_PER_MARK;
  }

  async #mark({ commit: { entries, checkpoint }, keys }: VerifiedCommit): Promise<void> {
    const tree = parseCheckpoint(checkpoint.note);
    const { seq: size, hash } = entries.at(-1) ?? entries[0];
    if (!tree.ok || (size === this.#marked.size && keys === this.#marked.keys)) return;
    const place = { head: { size, hash }, root: tree.value.root };
    await saveMark(this.#parts.replica, this.#signer, place, keys);
    this.#marked = { size, keys };
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof StoreProblem) return error.problem;
  const what = error instanceof Error ? error.message : String(error);
  return ledgerProblem('ledger/cannot-write', `the replica cannot be written: ${what}`, 'Check the disk.');
}
