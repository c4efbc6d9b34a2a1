import { isDeepStrictEqual } from 'node:util';
import { type Entry, parseEntry } from '../../ledger/format/entry.ts';
import { REPLICA_MARK } from '../../ledger/replica/replica-mark.ts';
import { findSnapshot, type FoundSnapshot, isUnsignedSnapshotName } from '../../ledger/snapshots-and-blobs.ts';
import type { StateFold } from '../../ledger/verify/verify-snapshots.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { LEDGER_LEVEL } from '../../protocol/fleet.ts';
import { findFleet } from '../../state/fleet/fleet.ts';
import { restoreState, toStateJson } from '../../state/json-form.ts';
import { ENTRY_TYPES, findUnknownType, UnreadableEntry } from '../../state/recorded-event.ts';
import { emptyState, foldEntry, type State } from '../../state/state.ts';
import { TrackedMap } from '../../state/tracked-map.ts';

export { ENTRY_TYPES };

/**
 * Folds the entries since the newest snapshot, which a key of this ledger must have signed. Throws `UnreadableEntry` if
 * an entry does not fit its type.
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
 * Removes snapshots of earlier versions: this version cannot verify them, and a forged one would make `baton ledger
 * verify` fail.
 */
async function removeOldSnapshots({ store }: Ledger, onDiscarded: (name: string, why: string) => void): Promise<void> {
  for (const name of await store.snapshotNames()) {
    if (name === SNAPSHOT_NAME || name === REPLICA_MARK) continue;
    onDiscarded(name, isUnsignedSnapshotName(name) ? DISCARD_REASONS.unsigned : DISCARD_REASONS.unread);
    await store.dropSnapshot(name);
  }
}

function parseSnapshot(found: FoundSnapshot | undefined, size: number): State | undefined {
  if (found === undefined || !found.ok || found.head.size > size) return undefined;
  const state = parseState(found.state);
  if (state?.seq !== found.head.size) return undefined;
  // An entry that was unknown when the snapshot was made may be known now, so all entries are folded again.
  if (state.unknown.size > 0) return undefined;
  // If a later version made the snapshot, the entries that this version does not know must be found.
  return (findFleet(state)?.level ?? 0) <= LEDGER_LEVEL ? state : undefined;
}

const DISCARD_REASONS = {
  unsigned: 'it is not signed',
  unread: 'this version does not read it',
  foreign: 'no key of this ledger has signed it',
  damaged: 'it cannot be read',
  homeless: 'its entry is not in the ledger',
  unfit: 'it does not fit the ledger',
} as const;

/** Raised with every change of the fold. Snapshots of an older fold are then ignored, and all entries are folded. */
export const SNAPSHOT_NAME = 'state-20';

function createTrackedState(): State {
  return emptyState(() => new TrackedMap());
}

/** Renders the state as bytes. A snapshot is derived data: without it, only the start takes longer. */
export function renderState(state: State): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(toStateJson(state)));
}

export function parseState(bytes: Uint8Array): State | undefined {
  try {
    return restoreState(JSON.parse(new TextDecoder().decode(bytes)), () => new TrackedMap());
  } catch {
    return undefined;
  }
}

function findUnreadable(fold: () => void): string | undefined {
  try {
    fold();
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableEntry) return error.message;
    throw error;
  }
}

/**
 * Lists entry types of later versions, for `baton ledger verify`. The chain can be verified without understanding them.
 */
export class UnknownTypes {
  readonly #first = new Map<string, number>();

  read(entry: Entry): void {
    const type = findUnknownType(entry);
    if (type !== undefined && !this.#first.has(type)) this.#first.set(type, entry.seq);
  }

  get warnings(): readonly string[] {
    return [...this.#first].map(
      ([type, seq]) =>
        `entry ${seq} has the type ${type}, which this version does not know, so a daemon of this version would decide nothing`,
    );
  }
}

/** This version's fold, for `baton ledger verify`. */
export const STATE_FOLD: StateFold = {
  name: SNAPSHOT_NAME,
  begin() {
    const state = createTrackedState();
    return {
      fold: (entry) => findUnreadable(() => foldEntry(state, entry)),
      // Ignores the order of keys, which depends on restarts and on reverted commits.
      equals: (bytes) => isDeepStrictEqual(parseState(bytes), parseState(renderState(state))),
    };
  },
};
