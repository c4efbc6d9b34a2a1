import { parseEntry } from '../../ledger/format/entry.ts';
import { findSnapshot, type FoundSnapshot } from '../../ledger/snapshots-and-blobs.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { isUnsignedSnapshotName } from '../../ledger/snapshot.ts';
import type { State } from '../../state/state.ts';
import { foldEntry } from './state-fold.ts';
import { parseState, SNAPSHOT_NAME, createTrackedState } from './state-snapshot.ts';

/**
 * The state of a project: the newest snapshot, and the entries since. A snapshot that is not signed by a key of the ledger, or is not of
 * this ledger, is discarded, and all entries are folded.
 */
export async function loadState(
  ledger: Ledger,
  onDiscarded: (name: string, why: string) => void = () => {},
): Promise<State> {
  const { store, head } = ledger;
  await removeOldSnapshots(ledger, onDiscarded);
  const found = await findSnapshot(store, ledger.snapshotTrust, SNAPSHOT_NAME);
  const state = parseSnapshot(found, head.size);
  if (found !== undefined && state === undefined) {
    onDiscarded(SNAPSHOT_NAME, found.ok ? DISCARD_REASONS.unfit : DISCARD_REASONS[found.fault]);
    await store.dropSnapshot(SNAPSHOT_NAME);
  }
  const folded = state ?? createTrackedState();
  for await (const batch of store.entries({ from: folded.seq + 1, to: head.size })) {
    for (const { bytes, seq } of batch) {
      const entry = parseEntry(bytes);
      if (entry.ok) foldEntry(folded, entry.value);
      folded.seq = seq;
    }
  }
  return folded;
}

/**
 * Drops snapshots under every other name: earlier versions left theirs, and no fold of this version compares with them. A forged one would
 * fail `baton ledger verify` for ever.
 */
async function removeOldSnapshots({ store }: Ledger, onDiscarded: (name: string, why: string) => void): Promise<void> {
  for (const name of await store.snapshotNames()) {
    if (name === SNAPSHOT_NAME) continue;
    onDiscarded(name, isUnsignedSnapshotName(name) ? DISCARD_REASONS.unsigned : DISCARD_REASONS.unread);
    await store.dropSnapshot(name);
  }
}

function parseSnapshot(found: FoundSnapshot | undefined, size: number): State | undefined {
  if (found === undefined || !found.ok || found.head.size > size) return undefined;
  const state = parseState(found.state);
  return state?.seq === found.head.size ? state : undefined;
}

const DISCARD_REASONS = {
  unsigned: 'it is not signed',
  unread: 'this version does not read it',
  foreign: 'no key of this ledger has signed it',
  damaged: 'it cannot be read',
  homeless: 'its entry is not in the ledger',
  unfit: 'it does not fit the ledger',
} as const;
