import { WRITABLE, type StoreHealth } from '../protocol/resource-faults.ts';
import { GENESIS } from './format/chain.ts';
import { sameBytes, toHex } from './format/bytes.ts';
import { LEDGER_LIMITS } from './format/limits.ts';
import type {
  Appended,
  Commit,
  Head,
  PartsStore,
  Range,
  Snapshot,
  Store,
  StoredBlob,
  StoredCheckpoint,
} from './store.ts';
import { type NewerEntries, newerThan, type StoredEntry, type Tile } from './store.ts';

/** A store without persistence, for tests and the simulator. It is also the shortest example of a store. */
export class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly state: PartsStore = new MemoryParts();
  readonly #entries: StoredEntry[];
  readonly #tiles: Tile[];
  readonly #blobs = new Map<string, StoredBlob>();
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #listeners = new Set<(head: Head) => void>();

  constructor({ entries = [], tiles = [] }: Partial<MemoryRows> = {}) {
    this.#entries = entries;
    this.#tiles = tiles;
  }

  async head(): Promise<Head> {
    return this.#head();
  }

  async append(commit: Commit): Promise<Appended> {
    const head = this.#head();
    if (head.size !== commit.after.size || !sameBytes(head.hash, commit.after.hash)) {
      return { ok: false, conflict: head };
    }
    const { size, note } = commit.checkpoint;
    for (const entry of commit.entries) this.#entries.push(entry.seq === size ? { ...entry, note } : entry);
    this.#tiles.push(...commit.tiles);
    const after = this.#head();
    for (const listener of this.#listeners) queueMicrotask(() => listener(after));
    return { ok: true, head: after };
  }

  async newer(head: Head): Promise<NewerEntries | undefined> {
    const limit = LEDGER_LIMITS.entriesPerBatch;
    const rows = this.#slice({ from: head.size, to: head.size + limit });
    return newerThan(head, rows, head.size + limit >= this.#entries.length);
  }

  async *entries(range: Range): AsyncGenerator<readonly StoredEntry[]> {
    yield* batches(this.#slice(range), LEDGER_LIMITS.entriesPerBatch);
  }

  async *hashes(range: Range): AsyncGenerator<readonly Uint8Array[]> {
    const hashes = this.#slice(range).map((entry) => entry.hash);
    yield* batches(hashes, LEDGER_LIMITS.hashesPerBatch);
  }

  async tiles(level: number, range: Range): Promise<readonly Uint8Array[]> {
    return this.#tiles.filter((tile) => tile.level === level && isIn(range, tile.index)).map((tile) => tile.hash);
  }

  async findCheckpoint(size = Number.MAX_SAFE_INTEGER): Promise<StoredCheckpoint | undefined> {
    const last = this.#entries.findLast(({ seq, note }) => seq <= size && note !== undefined);
    return last?.note === undefined ? undefined : { size: last.seq, note: last.note };
  }

  async putBlob(hash: Uint8Array, bytes: Uint8Array): Promise<void> {
    const key = toHex(hash);
    if (!this.#blobs.has(key)) this.#blobs.set(key, { hash, bytes });
  }

  async findBlob(hash: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#blobs.get(toHex(hash))?.bytes;
  }

  async *blobs(): AsyncGenerator<readonly StoredBlob[]> {
    yield* batches([...this.#blobs.values()], 1);
  }

  async saveSnapshot(name: string, snapshot: Snapshot): Promise<void> {
    this.#snapshots.set(name, snapshot);
  }

  async findSnapshot(name: string): Promise<Snapshot | undefined> {
    return this.#snapshots.get(name);
  }

  async dropSnapshot(name: string): Promise<void> {
    this.#snapshots.delete(name);
  }

  async snapshotNames(): Promise<readonly string[]> {
    return [...this.#snapshots.keys()].sort();
  }

  async inspect(): Promise<readonly string[]> {
    return [];
  }

  watch(listener: (head: Head) => void): () => void {
    // Wrapped, so that a function registered twice is removed once per call.
    const own = (head: Head): void => listener(head);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  health(): StoreHealth {
    return WRITABLE;
  }

  async probe(): Promise<StoreHealth> {
    return WRITABLE;
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }

  /** Synchronous: no other append may run between comparing the head and moving it. */
  #head(): Head {
    const last = this.#entries.at(-1);
    return last ? { size: last.seq, hash: last.hash } : GENESIS;
  }

  #slice(range: Range): StoredEntry[] {
    return this.#entries.slice(Math.max(0, range.from - 1), range.to === undefined ? undefined : Math.max(0, range.to));
  }
}

export interface MemoryRows {
  readonly entries: StoredEntry[];
  readonly tiles: Tile[];
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}

function isIn({ from, to = Number.MAX_SAFE_INTEGER }: Range, index: number): boolean {
  return index >= from && index <= to;
}

class MemoryParts implements PartsStore {
  #parts: readonly Uint8Array[] | undefined;

  async write(parts: AsyncIterable<Uint8Array>): Promise<void> {
    const kept: Uint8Array[] = [];
    for await (const part of parts) kept.push(part);
    this.#parts = kept;
  }

  async read(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const parts = this.#parts;
    return parts === undefined
      ? undefined
      : (async function* () {
          yield* parts;
        })();
  }

  async drop(): Promise<void> {
    this.#parts = undefined;
  }

  async removeDraft(): Promise<void> {}
}
