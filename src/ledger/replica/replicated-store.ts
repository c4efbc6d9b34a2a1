import type { Range, Store } from '../store.ts';

/**
 * A shared store with a replica on this machine. Writes, and reads of the end of the chain, go to the shared store.
 * Other reads use the replica as far as it reaches; a range beyond it continues in the shared store. The ledger fills
 * the replica, since only the ledger knows which entries are verified. Snapshots are derived data and stay on this
 * machine.
 */
export function makeReplicatedStore(shared: Store, replica: Store): Store {
  /** A replica that cannot be read counts as empty, so the shared store answers. */
  const extent = (): Promise<number> =>
    replica.head().then(
      ({ size }) => size,
      () => 0,
    );

  async function* join<T>(read: (store: Store, range: Range) => AsyncIterable<T>, range: Range): AsyncGenerator<T> {
    const size = await extent();
    const { from, to = Number.POSITIVE_INFINITY } = range;
    if (from <= size) yield* read(replica, { from, to: Math.min(to, size) });
    if (to > size) yield* read(shared, { ...range, from: from <= size ? size + 1 : from });
  }

  return {
    kind: shared.kind,
    parts: { shared, replica },
    head: () => shared.head(),
    append: (commit) => shared.append(commit),
    newer: (head) => shared.newer(head),
    entries: (range) => join((store, part) => store.entries(part), range),
    hashes: (range) => join((store, part) => store.hashes(part), range),
    async tiles(level, range) {
      const known = Math.floor((await extent()) / 2 ** level);
      const isKnown = range.to !== undefined && range.to < known;
      return (isKnown ? replica : shared).tiles(level, range);
    },
    async findCheckpoint(size) {
      const isKnown = size !== undefined && size <= (await extent());
      return (isKnown ? replica : shared).findCheckpoint(size);
    },
    async putBlob(hash, bytes) {
      await shared.putBlob(hash, bytes);
      await keepBlob(hash, bytes);
    },
    async findBlob(hash) {
      const known = await replica.findBlob(hash).catch(() => undefined);
      if (known !== undefined) return known;
      const found = await shared.findBlob(hash);
      if (found !== undefined) await keepBlob(hash, found);
      return found;
    },
    blobs: () => shared.blobs(),
    saveSnapshot: (name, snapshot) => replica.saveSnapshot(name, snapshot),
    findSnapshot: (name) => replica.findSnapshot(name),
    snapshotNames: () => replica.snapshotNames(),
    dropSnapshot: (name) => replica.dropSnapshot(name),
    ...(replica.state === undefined ? {} : { state: replica.state }),
    inspect: () => shared.inspect(),
    wakeOthers: () => shared.wakeOthers?.(),
    watch: (listener) => shared.watch(listener),
    health: () => shared.health(),
    probe: (freshMs) => shared.probe(freshMs),
    async close() {
      await shared.close();
      await replica.close();
    },
  };

  /** The shared store has the blob: a full disk on this machine must not fail the caller. */
  async function keepBlob(hash: Uint8Array, bytes: Uint8Array): Promise<void> {
    await replica.putBlob(hash, bytes).catch(() => undefined);
  }
}
