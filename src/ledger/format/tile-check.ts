import { sameBytes } from './bytes.ts';
import { TILE_HEIGHT } from './merkle.ts';
import type { Store, Tile } from '../store.ts';

/** Tile levels that a ledger of any size can have: 2⁴⁸ entries are more than anybody will write. */
const LEVELS = [1, 2, 3, 4, 5, 6].map((n) => n * TILE_HEIGHT);

/** Entries between two looks into the store: a few thousand, so that memory stays small and reads stay long. */
const BATCH = 64;

/** Compares the tiles that a walk makes with the stored ones, in batches, and remembers the first that differs. */
export class TileCheck {
  readonly #store: Pick<Store, 'tiles' | 'head'>;
  readonly #waiting = new Map<number, Tile[]>();
  readonly #next = new Map<number, number>();
  #wrong: Tile | undefined;

  constructor(store: Pick<Store, 'tiles' | 'head'>, size: number) {
    this.#store = store;
    for (const level of LEVELS) this.#next.set(level, Math.floor(size / 2 ** level));
  }

  /** The first tile that differs from the entries below it. */
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

  /** Compares what is left, and demands that nothing else is stored than what a running writer has added since. */
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
