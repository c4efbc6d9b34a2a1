import type { Store, Tile } from '../store.ts';
import { sameBytes } from './bytes.ts';
import type { Sha256 } from './crypto.ts';
import { Frontier, subtreeLevel, TILE_HEIGHT } from './merkle.ts';

const TILE_WIDTH = 2 ** TILE_HEIGHT;

/**
 * Leaves and tile roots of a store; other nodes are computed from at most 128 of them. Missing hashes give `undefined`.
 */
export class Tree {
  readonly #store: Pick<Store, 'hashes' | 'tiles'>;
  readonly #sha256: Sha256;
  readonly #size: number;
  readonly #tiles = new Map<string, Promise<readonly Uint8Array[]>>();

  constructor(store: Pick<Store, 'hashes' | 'tiles'>, sha256: Sha256, size: number) {
    this.#store = store;
    this.#sha256 = sha256;
    this.#size = size;
  }

  async findFrontier(size: number): Promise<Frontier | undefined> {
    return this.#join(0, size);
  }

  /** See RFC 6962, 2.1.1. */
  async findInclusionProof(index: number, size: number): Promise<readonly Uint8Array[] | undefined> {
    return this.#roots(inclusionRanges(index, 0, size));
  }

  /** See RFC 6962, 2.1.2. */
  async findConsistencyProof(first: number, second: number): Promise<readonly Uint8Array[] | undefined> {
    return this.#roots(consistencyRanges(first, 0, second, true));
  }

  async #roots(ranges: readonly LeafRange[]): Promise<readonly Uint8Array[] | undefined> {
    const roots: Uint8Array[] = [];
    for (const [start, end] of ranges) {
      const frontier = await this.#join(start, end);
      if (!frontier) return undefined;
      roots.push(frontier.root());
    }
    return roots;
  }

  async #join(start: number, end: number): Promise<Frontier | undefined> {
    const frontier = new Frontier(this.#sha256);
    for (let next = start; next < end;) {
      const level = subtreeLevel(next, end);
      const hash = await this.#node(level, next / 2 ** level);
      if (!hash) return undefined;
      frontier.addSubtree(level, hash);
      next += 2 ** level;
    }
    return frontier;
  }

  async #node(level: number, index: number): Promise<Uint8Array | undefined> {
    const base = level - (level % TILE_HEIGHT);
    const width = 2 ** (level - base);
    const first = index * width;
    const tile = await this.#tile(base, Math.floor(first / TILE_WIDTH));
    const nodes = tile.slice(first % TILE_WIDTH, (first % TILE_WIDTH) + width);
    if (nodes.length < width) return undefined;
    const frontier = new Frontier(this.#sha256);
    for (const node of nodes) frontier.add(node);
    return frontier.root();
  }

  async #tile(base: number, index: number): Promise<readonly Uint8Array[]> {
    const key = `${base}/${index}`;
    const known = this.#tiles.get(key);
    if (known) return known;
    const tile = this.#readTile(base, index);
    this.#tiles.set(key, tile);
    return tile;
  }

  async #readTile(base: number, index: number): Promise<readonly Uint8Array[]> {
    const from = index * TILE_WIDTH;
    const to = from + TILE_WIDTH - 1;
    // Tiles beyond the size would cost a request to a shared store.
    if (base > 0) return this.#store.tiles(base, { from, to: Math.min(to, Math.floor(this.#size / 2 ** base) - 1) });
    const hashes: Uint8Array[] = [];
    // Entries are numbered from 1, leaves from 0.
    for await (const batch of this.#store.hashes({ from: from + 1, to: Math.min(to + 1, this.#size) })) {
      hashes.push(...batch);
    }
    return hashes;
  }
}

type LeafRange = readonly [start: number, end: number];

/** The subtrees whose roots are the proof, from the leaf's sibling upwards. */
function inclusionRanges(index: number, start: number, end: number): readonly LeafRange[] {
  if (end - start <= 1) return [];
  const middle = start + splitSize(end - start);
  return index < middle
    ? [...inclusionRanges(index, start, middle), [middle, end]]
    : [...inclusionRanges(index, middle, end), [start, middle]];
}

function consistencyRanges(first: number, start: number, end: number, whole: boolean): readonly LeafRange[] {
  if (first === end) return whole ? [] : [[start, end]];
  const middle = start + splitSize(end - start);
  return first <= middle
    ? [...consistencyRanges(first, start, middle, whole), [middle, end]]
    : [...consistencyRanges(first, middle, end, false), [start, middle]];
}

function splitSize(n: number): number {
  let size = 1;
  while (size * 2 < n) size *= 2;
  return size;
}

/** All possible tile levels: a ledger never reaches 2⁴⁸ entries. */
const LEVELS = [1, 2, 3, 4, 5, 6].map((n) => n * TILE_HEIGHT);
/** Tiles per comparison with the store: small enough for memory, large enough for long reads. */
const BATCH = 64;

/** Compares the tiles computed by a walk with the stored ones, in batches, and keeps the first that differs. */
export class TileCheck {
  readonly #store: Pick<Store, 'tiles' | 'head'>;
  readonly #waiting = new Map<number, Tile[]>();
  readonly #next = new Map<number, number>();
  #wrong: Tile | undefined;

  constructor(store: Pick<Store, 'tiles' | 'head'>, size: number) {
    this.#store = store;
    for (const level of LEVELS) this.#next.set(level, Math.floor(size / 2 ** level));
  }

  get wrong(): Tile | undefined {
    return this.#wrong;
  }

  async add(tiles: readonly Tile[]): Promise<void> {
    for (const tile of tiles) {
      const waiting = this.#waiting.get(tile.level) ?? [];
      waiting.push(tile);
      this.#waiting.set(tile.level, waiting);
      if (waiting.length >= BATCH) await this.#compare(tile.level, waiting.length);
    }
  }

  /** Compares the remaining tiles. Other stored tiles are wrong, unless a writer has added entries since. */
  async finish(): Promise<void> {
    for (const level of LEVELS) await this.#compare(level, undefined);
  }

  async #compare(level: number, count: number | undefined): Promise<void> {
    const made = this.#waiting.get(level) ?? [];
    const from = this.#next.get(level) ?? 0;
    const to = count === undefined ? {} : { to: from + count - 1 };
    const kept = await this.#store.tiles(level, { from, ...to });
    const { size } = await this.#store.head();
    const length = Math.max(kept.length, made.length);
    for (let i = 0; i < length; i += 1) {
      const [stored, tile] = [kept[i], made[i]];
      if (stored && tile && sameBytes(stored, tile.hash)) continue;
      if (!tile && (from + i + 1) * 2 ** level <= size) continue;
      this.#wrong ??= tile ?? { level, index: from + i, hash: stored ?? new Uint8Array(32) };
    }
    this.#next.set(level, from + made.length);
    this.#waiting.set(level, []);
  }
}
