import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../../ledger/store.ts';

export type ReadableStore = Pick<Store, 'findCheckpoint' | 'entries' | 'hashes' | 'tiles'>;

/** Lets other callers run after each batch: SQLite reads synchronously, and a long read would block all of them. */
export function readInTurns(store: ReadableStore): ReadableStore {
  return {
    findCheckpoint: async (size) => store.findCheckpoint(size),
    tiles: async (level, range) => store.tiles(level, range),
    entries: (range) => inTurns(store.entries(range)),
    hashes: (range) => inTurns(store.hashes(range)),
  };
}

async function* inTurns<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const batch of batches) {
    yield batch;
    await nextTurn();
  }
}
