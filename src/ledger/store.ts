import { healthAfter, type StoreHealth, WRITABLE } from '../protocol/resource-faults.ts';
import type { Problem } from '../protocol/shape/problem.ts';
import { sameBytes } from './format/bytes.ts';

/** The storage interface of a ledger: moves bytes and compares heads. Every implementation passes `store.cases.ts`. */
export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'postgres';
  /** Both halves, if this is a shared store with a replica on this machine. */
  readonly parts?: StoreParts;

  /** The end of the chain; size 0 and a zero hash if the ledger is empty. */
  head(): Promise<Head>;
  /**
   * Writes the whole commit durably, or nothing. Compares the expected head with the stored one in the same
   * transaction: another writer's commit in between is a value (`conflict`), never an error. A store that cannot write
   * returns `problem` (disk full, connection lost); the commit may then be recorded or not, and the caller reads the
   * head to find out.
   */
  append(commit: Commit): Promise<Appended>;
  /**
   * Returns up to a batch of entries after `head` in one round trip; undefined if the store does not contain `head`.
   */
  newer(head: Head): Promise<NewerEntries | undefined>;

  /**
   * Yields batches of the range, both ends included. Returns every stored row of the range, even numbered below 1 or
   * after a gap, so that readers find them.
   */
  entries(range: Range): AsyncIterable<readonly StoredEntry[]>;
  hashes(range: Range): AsyncIterable<readonly Uint8Array[]>;
  /** Roots of complete subtrees at a tile level, in order of index. The range counts tiles from 0. */
  tiles(level: number, range: Range): Promise<readonly Uint8Array[]>;
  /** The newest signed checkpoint; with `size`, the newest that covers at most `size` entries. */
  findCheckpoint(size?: number): Promise<StoredCheckpoint | undefined>;
  /** Stores data too large for an entry under its SHA-256, once. */
  putBlob(hash: Uint8Array, bytes: Uint8Array): Promise<void>;
  findBlob(hash: Uint8Array): Promise<Uint8Array | undefined>;
  blobs(): AsyncIterable<readonly StoredBlob[]>;
  /** Saves a folded state and its entry, which are derived data. The newest per name is kept. */
  saveSnapshot(name: string, snapshot: Snapshot): Promise<void>;
  findSnapshot(name: string): Promise<Snapshot | undefined>;
  snapshotNames(): Promise<readonly string[]>;
  dropSnapshot(name: string): Promise<void>;
  /** The folded state in parts, derived data on this machine. Absent if the store keeps none. Usable after `close`. */
  readonly state?: PartsStore;
  /**
   * Returns faults that reading entries would not show, one sentence each: missing triggers, stray tiles, damaged
   * pages.
   */
  inspect(): Promise<readonly string[]>;
  watch(listener: (head: Head) => void): () => void;
  /** Notifies watching processes of the newest commit at once, because one of them may be able to act on it. */
  wakeOthers?(): void;
  health(): StoreHealth;
  /** Tests a write without leaving a trace, unless a write has succeeded within `freshMs`. */
  probe(freshMs?: number): Promise<StoreHealth>;
  close(): Promise<void>;
}

/** Keeps a list of parts as a whole. A reader never sees an unfinished list. */
export interface PartsStore {
  /** Replaces the parts. If `parts` throws, the earlier ones stay. */
  write(parts: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined if there are none. Throws `DamagedParts` at the first part that cannot be read. */
  read(): Promise<AsyncIterable<Uint8Array> | undefined>;
  drop(): Promise<void>;
  /** Removes what a killed writer has left. Only for the one process that may write. */
  removeDraft(): Promise<void>;
}

/** Thrown by a reader of parts that are not those that were written. */
export class DamagedParts extends Error {}

export interface StoreParts {
  readonly shared: Store;
  readonly replica: Store;
}

export interface Head {
  readonly size: number;
  readonly hash: Uint8Array;
}

export interface StoredEntry {
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
  /** The signed checkpoint of the tree that ends here. Stores return it with the last entry of each commit. */
  readonly note?: string | undefined;
}

export interface NewerEntries {
  readonly entries: readonly StoredEntry[];
  /** False if more may follow. */
  readonly isAll: boolean;
}

export interface StoredCheckpoint {
  readonly size: number;
  readonly note: string;
}

export type StoredBlob = Pick<StoredEntry, 'hash' | 'bytes'>;

export interface Commit {
  readonly after: Head;
  /** Entries before the last have a note if this copies several commits of another store at once. */
  readonly entries: readonly [StoredEntry, ...StoredEntry[]];
  /** Subtree roots that these entries complete, at tile levels only (8, 16, 24, …). */
  readonly tiles: readonly Tile[];
  /** Stored in the row of the last entry: a commit then touches one page, not two. */
  readonly checkpoint: StoredCheckpoint;
}

export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

export interface Snapshot extends Head {
  readonly bytes: Uint8Array;
}

export interface Range {
  readonly from: number;
  readonly to?: number;
}

export interface Failure {
  readonly ok: false;
  readonly problem: Problem;
}

export type Appended =
  | { readonly ok: true; readonly head: Head }
  | { readonly ok: false; readonly conflict: Head }
  | Failure;

/** Thrown by a store that cannot work. The problem states the cause and the next step. */
export class StoreProblem extends Error {
  override readonly name: string = 'StoreProblem';
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

export function storeProblemOf(error: unknown): Failure {
  if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
  throw error;
}

export async function findHash(store: Pick<Store, 'hashes'>, seq: number): Promise<Uint8Array | undefined> {
  for await (const [hash] of store.hashes({ from: seq, to: seq })) return hash;
  return undefined;
}

export async function hasHead(store: Pick<Store, 'hashes'>, { size, hash }: Head): Promise<boolean> {
  const stored = size === 0 ? hash : await findHash(store, size);
  return stored !== undefined && sameBytes(stored, hash);
}

/**
 * Checks that `rows` start with the entry of `head`, which proves that the store contains it; an empty ledger needs no
 * proof.
 */
export function newerThan(head: Head, rows: readonly StoredEntry[], isAll: boolean): NewerEntries | undefined {
  if (head.size === 0) return { entries: rows, isAll };
  const [first] = rows;
  if (first?.seq !== head.size || !sameBytes(first.hash, head.hash)) return undefined;
  return { entries: rows.slice(1), isAll };
}

/** Reports whether the store does not answer now, which proves nothing about its content. */
export function isStoreUnavailable(error: unknown): error is StoreProblem {
  return error instanceof StoreProblem && AWAY.has(error.problem.code);
}

const AWAY: ReadonlySet<string> = new Set(['ledger/locked', 'ledger/unavailable', 'ledger/recovering']);

export class HealthLog {
  readonly #now: () => Date;
  #health: StoreHealth = WRITABLE;
  #provenMs = -Infinity;
  /** The largest write that failed for lack of space since the store was last writable. */
  #lackedBytes = 0;

  constructor(now: () => Date = () => new Date()) {
    this.#now = now;
  }

  get health(): StoreHealth {
    return this.#health;
  }

  get provenAgoMs(): number {
    return performance.now() - this.#provenMs;
  }

  /** `roomBytes`: a write of this size fits now. On a full disk a small write may succeed after a larger one failed. */
  succeeded(roomBytes: () => number = () => Infinity): void {
    this.#provenMs = performance.now();
    if (this.#health.writable || roomBytes() < this.#lackedBytes) return;
    this.#health = WRITABLE;
    this.#lackedBytes = 0;
  }

  failed(problem: Pick<Problem, 'message' | 'hint'> & { readonly code?: string }, sinceMs = 0, lackedBytes = 0): void {
    const since = new Date(this.#now().getTime() - sinceMs);
    this.#lackedBytes = Math.max(this.#lackedBytes, lackedBytes);
    this.#health = healthAfter(this.#health, problem, since.toISOString());
  }
}
