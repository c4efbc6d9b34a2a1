import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { GENESIS } from '../format/chain.ts';
import { parseCheckpoint } from '../format/checkpoint.ts';
import type { Sha256 } from '../format/crypto.ts';
import { parseEntry } from '../format/entry.ts';
import { DO_NOT_WRITE, LEDGER_LIMITS, ledgerProblem } from '../format/limits.ts';
import { Frontier, leafHash } from '../format/merkle.ts';
import { blobName, blobsNamedIn } from '../snapshots-and-blobs.ts';
import type { Commit, Failure, Head, Store, StoredEntry, Tile } from '../store.ts';
import { findPosition, type TreePosition } from '../verify/walk.ts';
import { compareWithReplica } from './compare.ts';

export interface CopyOptions {
  readonly sha256: Sha256;
  readonly onProgress?: (entries: number) => void;
}

export type CopiedLedger =
  | { readonly ok: true; readonly head: Head; readonly root: Uint8Array; readonly entries: number }
  | Failure;

/**
 * Copies a ledger hash for hash: entries, notes and blobs unchanged, tiles computed from the entries. Continues an
 * interrupted copy. Every note must state the tree of the copied entries, so the copy ends with the same root.
 */
export async function copyLedger(from: Store, to: Store, options: CopyOptions): Promise<CopiedLedger> {
  const wrong = await copyBlobs(from, to, options.sha256);
  if (wrong) return { ok: false, problem: wrong };
  const end = await from.head();
  const copied = await copyCommits(from, to, end, options);
  return copied.ok && copied.head.size > end.size ? { ok: false, problem: differs(end.size + 1) } : copied;
}

/**
 * Restores the end of a replica in a shared store that has lost it: same bytes, same notes, and the replica's blobs.
 */
export async function appendMissing(shared: Store, replica: Store, options: CopyOptions): Promise<CopiedLedger> {
  const { size } = await shared.head();
  await putBlobsOf(replica, shared, size + 1);
  return copyCommits(replica, shared, await replica.head(), options);
}

/** Each host has only the blobs that it stored, so after a loss each host restores its own. */
export async function putBlobsOf(replica: Store, shared: Store, from: number): Promise<void> {
  for await (const batch of replica.entries({ from })) {
    for (const { bytes } of batch) {
      const entry = parseEntry(bytes);
      for (const hash of entry.ok ? blobsNamedIn(entry.value.data) : []) {
        const blob = await replica.findBlob(hash);
        if (blob) await shared.putBlob(hash, blob);
      }
    }
  }
}

async function copyBlobs(from: Store, to: Store, sha256: Sha256): Promise<Problem | undefined> {
  for await (const batch of from.blobs()) {
    for (const { hash, bytes } of batch) {
      if (!sameBytes(sha256(bytes), hash)) return damaged(`the blob ${blobName(hash)} is not what was recorded`);
      await to.putBlob(hash, bytes);
    }
  }
  return undefined;
}

/** Copies commits up to `end`. Another writer that copies the same commits at the same time does no harm. */
export async function copyCommits(
  from: Pick<Store, 'entries' | 'head' | 'hashes'>,
  to: Store,
  end: Head,
  options: CopyOptions,
): Promise<CopiedLedger> {
  const found = await compareWithReplica(from, to);
  if (typeof found === 'object' && found.kind === 'forked') return { ok: false, problem: differs(found.at) };
  const start = await findStart(to, options.sha256);
  if (!start) return { ok: false, problem: damaged('the tree of the copy cannot be read') };
  const copy = new Copy(options.sha256, start);
  for await (const commit of copy.commits(from, end.size)) {
    if (!('after' in commit)) return { ok: false, problem: commit };
    const appended = await to.append(commit);
    if ('problem' in appended) return { ok: false, problem: appended.problem };
    if (!appended.ok) {
      if (appended.conflict.size <= commit.after.size) return { ok: false, problem: differs(appended.conflict.size) };
      return copyCommits(from, to, end, options);
    }
    options.onProgress?.(appended.head.size);
  }
  const { head, frontier } = copy.position;
  if (head.size < end.size || (head.size === end.size && !sameBytes(head.hash, end.hash)))
    return { ok: false, problem: damaged(`entry ${end.size} is not what was to be copied`) };
  return { ok: true, head, root: frontier.root(), entries: head.size - start.head.size };
}

async function findStart(to: Store, sha256: Sha256): Promise<TreePosition | undefined> {
  const { size } = await to.head();
  return size === 0 ? { head: GENESIS, frontier: new Frontier(sha256) } : findPosition(to, sha256, size);
}

/** Collects rows into commits of a bounded size that end with a note. */
class Copy {
  readonly #sha256: Sha256;
  readonly #frontier: Frontier;
  #head: Head;
  #after: Head;
  #rows: StoredEntry[] = [];
  #tiles: Tile[] = [];
  #bytes = 0;

  constructor(sha256: Sha256, start: TreePosition) {
    this.#sha256 = sha256;
    this.#frontier = start.frontier.copy();
    this.#head = start.head;
    this.#after = start.head;
  }

  get position(): TreePosition {
    return { head: this.#head, frontier: this.#frontier };
  }

  /** Yields commits; stops after the first problem. */
  async *commits(from: Pick<Store, 'entries'>, to: number): AsyncGenerator<Commit | Problem> {
    for await (const batch of from.entries({ from: this.#head.size + 1, to })) {
      for (const row of batch) {
        const commit = this.#add(row);
        if (commit) yield commit;
        if (commit && !('after' in commit)) return;
      }
    }
    const last = this.#finish();
    if (last) yield last;
  }

  #add(row: StoredEntry): Commit | Problem | undefined {
    const { seq, hash, bytes, note } = row;
    if (seq !== this.#head.size + 1 || !sameBytes(leafHash(this.#sha256, bytes), hash))
      return damaged(`entry ${this.#head.size + 1} is missing or not what was recorded`);
    this.#head = { size: seq, hash };
    this.#rows.push(row);
    this.#tiles.push(...this.#frontier.add(hash));
    this.#bytes += bytes.length;
    const isFull = this.#rows.length >= LEDGER_LIMITS.entriesPerCommit || this.#bytes >= LEDGER_LIMITS.bytesPerCommit;
    return note !== undefined && isFull ? this.#finish() : undefined;
  }

  #finish(): Commit | Problem | undefined {
    const [first, ...rest] = this.#rows;
    if (first === undefined) return undefined;
    const { size } = this.#head;
    const { note } = rest.at(-1) ?? first;
    const checkpoint = note === undefined ? undefined : parseCheckpoint(note);
    if (note === undefined || !checkpoint?.ok) return damaged(`entry ${size} has no checkpoint`);
    if (checkpoint.value.size !== size || !sameBytes(checkpoint.value.root, this.#frontier.root()))
      return damaged(`the checkpoint of ${size} entries states a different tree`);
    const commit = {
      after: this.#after,
      entries: [first, ...rest],
      tiles: this.#tiles,
      checkpoint: { size, note },
    } as const;
    this.#after = this.#head;
    this.#rows = [];
    this.#tiles = [];
    this.#bytes = 0;
    return commit;
  }
}

function differs(at: number): Problem {
  const message = `the two ledgers differ from entry ${at} on`;
  return ledgerProblem('ledger/forked', message, 'See the first difference: baton store compare.');
}

function damaged(message: string): Problem {
  return ledgerProblem('ledger/damaged', `the ledger cannot be copied: ${message}`, DO_NOT_WRITE);
}
