import { parseEntry } from '../ledger/entry.ts';
import { findSnapshot, type FoundSnapshot } from '../ledger/keep.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isOfOldVersion } from '../ledger/snapshot.ts';
import type { State } from '../state/state.ts';
import { foldEntry } from './state-fold.ts';
import { parseState, SNAPSHOT_NAME, trackedState } from './state-snapshot.ts';

/**
 * The state of a project: the newest snapshot, and the entries since. A snapshot that is not signed by a key of the ledger, or is not of
 * this ledger, is discarded, and all entries are folded.
 */
export async function foldState(
  ledger: Ledger,
  onDiscarded: (name: string, why: string) => void = () => {},
): Promise<State> {
  const { store, head } = ledger;
  await dropOldOnes(ledger, onDiscarded);
  const found = await findSnapshot(store, ledger.snapshotTrust, SNAPSHOT_NAME);
  const state = read(found, head.size);
  if (found !== undefined && state === undefined) {
    onDiscarded(SNAPSHOT_NAME, found.ok ? WHY.unfit : WHY[found.fault]);
    await store.dropSnapshot(SNAPSHOT_NAME);
  }
  const folded = state ?? trackedState();
  for await (const batch of store.entries({ from: folded.seq + 1, to: head.size })) {
    for (const { bytes, seq } of batch) {
      const entry = parseEntry(bytes);
      if (entry.ok) foldEntry(folded, entry.value);
      folded.seq = seq;
    }
  }
  return folded;
}

/** Versions before this one left snapshots that no one has signed, under other names. No one reads them any more. */
async function dropOldOnes({ store }: Ledger, onDiscarded: (name: string, why: string) => void): Promise<void> {
  for (const name of await store.snapshotNames()) {
    if (!isOfOldVersion(name)) continue;
    onDiscarded(name, WHY.unsigned);
    await store.dropSnapshot(name);
  }
}

function read(found: FoundSnapshot | undefined, size: number): State | undefined {
  if (found === undefined || !found.ok || found.head.size > size) return undefined;
  const state = parseState(found.state);
  return state?.seq === found.head.size ? state : undefined;
}

const WHY = {
  unsigned: 'it is not signed',
  foreign: 'no key of this ledger has signed it',
  damaged: 'it cannot be read',
  homeless: 'its entry is not in the ledger',
  unfit: 'it does not fit the ledger',
} as const;
