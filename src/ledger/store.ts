import { healthAfter, type StoreHealth, WRITABLE } from '../protocol/resource-faults.ts';
import type { Problem } from '../protocol/shape/problem.ts';

/**
 * The port: what a ledger needs from whatever keeps it. A store moves bytes and compares heads; what an entry means, how
 * it is hashed and who signs is decided above it. `store.cases.ts` is the suite that every implementation passes.
 */
export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'postgres';

  /** The end of the chain: size 0 and a zero hash where nothing was ever written. */
  head(): Promise<Head>;

  /**
   * Writes the whole commit durably, or nothing. The head it was made for is compared with the real one in the same
   * transaction: somebody else's commit in between is a value (`conflict`), never an error. So is a store that cannot
   * write (`problem`: the disk is full, the connection is gone); the commit may then have happened or not, and whoever
   * wants to know reads the head again.
   */
  append(commit: Commit): Promise<Appended>;

  /**
   * Entries `from`…`to` (both included, `to` defaults to the end), in order, in batches that bound memory. Whatever is
   * stored in the range is given out: rows numbered 0 or below, or beyond a gap, are for the reader to stumble over.
   */
  entries(range: Range): AsyncIterable<readonly StoredEntry[]>;

  /** Only the hashes of `from`…`to`, in order: what tree proofs are made of. */
  hashes(range: Range): AsyncIterable<readonly Uint8Array[]>;

  /** Roots of complete subtrees at a tile level, in order of index. The range counts tiles, the first one is 0. */
  tiles(level: number, range: Range): Promise<readonly Uint8Array[]>;

  /** The newest signed checkpoint, or the newest one that covers at most `size` entries. */
  findCheckpoint(size?: number): Promise<StoredCheckpoint | undefined>;

  /** Keeps what is too large for an entry under its SHA-256, once. */
  putBlob(hash: Uint8Array, bytes: Uint8Array): Promise<void>;
  findBlob(hash: Uint8Array): Promise<Uint8Array | undefined>;
  /** All blobs, in batches (of one, where they are large): what `verify` hashes again. */
  blobs(): AsyncIterable<readonly StoredBlob[]>;

  /** Derived data: a folded state and the entry it stands on. The newest one per name is kept. */
  saveSnapshot(name: string, snapshot: Snapshot): Promise<void>;
  findSnapshot(name: string): Promise<Snapshot | undefined>;
  snapshotNames(): Promise<readonly string[]>;
  /** Removes one that must not be read. */
  dropSnapshot(name: string): Promise<void>;

  /**
   * What is wrong with the store itself that nobody reading entries would notice: missing triggers, rows outside of the
   * numbering, tiles at levels that do not exist, damaged pages. One sentence each; none when all is well.
   */
  inspect(): Promise<readonly string[]>;

  /** Calls back with the head after commits, of any process, coalesced: never more often than the reader can follow. */
  watch(listener: (head: Head) => void): () => void;

  /** Whether the last write succeeded, and since when and why not. */
  health(): StoreHealth;

  /** Tries to write, without leaving a trace, unless a write has succeeded within `freshMs`. */
  probe(freshMs?: number): Promise<StoreHealth>;

  close(): Promise<void>;
}

export interface Head {
  readonly size: number;
  readonly hash: Uint8Array;
}

export interface StoredEntry {
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
  /** The signed checkpoint of the tree that ends here. Stores give it out with the last entry of each commit. */
  readonly note?: string | undefined;
}

export interface StoredCheckpoint {
  readonly size: number;
  readonly note: string;
}

export interface StoredBlob {
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface Commit {
  readonly after: Head;
  readonly entries: readonly [StoredEntry, ...StoredEntry[]];
  /** Subtree roots that these entries complete, at the tile levels only (8, 16, 24, …). */
  readonly tiles: readonly Tile[];
  /** It is stored in the row of the last entry: a commit then touches one page, not two. */
  readonly checkpoint: StoredCheckpoint;
}

export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

export interface Snapshot {
  readonly size: number;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface Range {
  readonly from: number;
  readonly to?: number;
}

export type Appended =
  | { readonly ok: true; readonly head: Head }
  | { readonly ok: false; readonly conflict: Head }
  | { readonly ok: false; readonly problem: Problem };

/** Thrown by the reads and writes of a store that cannot do its work. The problem says why, and what to do. */
export class StoreProblem extends Error {
  override readonly name: string = 'StoreProblem';
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

/** The store does not answer for now. That says nothing about what it holds. */
export function isStoreUnavailable(error: unknown): error is StoreProblem {
  return error instanceof StoreProblem && AWAY.has(error.problem.code);
}

const AWAY: ReadonlySet<string> = new Set(['ledger/locked', 'ledger/unavailable']);

/** What became of the writes of one store: every write reports its outcome here. */
export class HealthLog {
  readonly #now: () => Date;
  #health: StoreHealth = WRITABLE;
  #provenMs = -Infinity;
  /** The largest write that failed for want of room since the store was last writable. */
  #lackedBytes = 0;

  constructor(now: () => Date = () => new Date()) {
    this.#now = now;
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** How long ago a write last succeeded. */
  get provenAgoMs(): number {
    return performance.now() - this.#provenMs;
  }

  /**
   * `roomBytes` is how large a write is known to fit now. On a full disk a small write can still fit where a larger one did not: that
   * proves nothing about the larger one.
   */
  succeeded(roomBytes: () => number = () => Infinity): void {
    this.#provenMs = performance.now();
    if (this.#health.writable || roomBytes() < this.#lackedBytes) return;
    this.#health = WRITABLE;
    this.#lackedBytes = 0;
  }

  /** The failure began `sinceMs` ago; `lackedBytes` is the size of a write that found no room. */
  failed(problem: Pick<Problem, 'message' | 'hint'>, sinceMs = 0, lackedBytes = 0): void {
    const since = new Date(this.#now().getTime() - sinceMs);
    this.#lackedBytes = Math.max(this.#lackedBytes, lackedBytes);
    this.#health = healthAfter(this.#health, problem, since.toISOString());
  }
}
