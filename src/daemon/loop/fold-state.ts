import { isDeepStrictEqual } from 'node:util';
import { type Entry, parseEntry } from '../../ledger/format/entry.ts';
import { REPLICA_MARK } from '../../ledger/replica/replica-mark.ts';
import { isUnsignedSnapshotName, type SnapshotTrust } from '../../ledger/snapshots-and-blobs.ts';
import { readState, type StateFault } from '../../ledger/state-parts.ts';
import type { StateFold } from '../../ledger/verify/verify-snapshots.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { fieldOf } from '../../protocol/shape/read-unknown.ts';
import { ENTRY_TYPES, findUnknownType, UnreadableEntry } from '../../state/recorded-event.ts';
import { encodeState, pairsOf, StateDecoder, type StateView, viewState } from '../../state/state-parts.ts';
import { emptyState, foldEntry, type State } from '../../state/state.ts';
import { TrackedMap } from '../../state/tracked-map.ts';

export { ENTRY_TYPES };

export interface LoadEvents {
  readonly onDiscarded?: (name: string, why: string) => void;
  /** The number of entries in the snapshot from which the state was folded; 0 without a snapshot. */
  readonly onLoaded?: (snapshotSize: number) => void;
}

/**
 * Folds the entries since the newest snapshot, which a key of this ledger must have signed. Throws `UnreadableEntry` if
 * an entry does not fit its type.
 */
export async function loadState(ledger: Ledger, events: LoadEvents = {}): Promise<State> {
  const { store, head } = ledger;
  await removeOldSnapshots(ledger, events.onDiscarded);
  await store.state?.removeDraft();
  const found = await readSnapshot(store, ledger.snapshotTrust, head.size);
  if (found !== undefined && !found.ok) {
    events.onDiscarded?.(found.name, DISCARD_REASONS[found.fault]);
    await store.state?.drop();
  }
  const folded = found?.ok === true ? found.state : createTrackedState();
  events.onLoaded?.(folded.seq);
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
 * Removes snapshots of earlier versions, which were rows of the database: this version does not read them, and a forged
 * one would make `baton ledger verify` fail.
 */
async function removeOldSnapshots({ store }: Ledger, onDiscarded: LoadEvents['onDiscarded']): Promise<void> {
  for (const name of await store.snapshotNames()) {
    if (name === REPLICA_MARK) continue;
    onDiscarded?.(name, isUnsignedSnapshotName(name) ? DISCARD_REASONS.unsigned : DISCARD_REASONS.unread);
    await store.dropSnapshot(name);
  }
}

export type Snapshot =
  | { readonly ok: true; readonly state: State }
  | { readonly ok: false; readonly name: string; readonly fault: StateFault | 'unread' | 'unfit' };

/** Reads the snapshot of a ledger with `size` entries. Undefined if there is none. */
export async function readSnapshot(
  store: Parameters<typeof readState>[0],
  trust: SnapshotTrust,
  size: number,
): Promise<Snapshot | undefined> {
  const decoder = new StateDecoder(() => new TrackedMap());
  let isReadable = true;
  // What was decoded counts only if the signature of all parts is valid.
  const read = await readState(store, trust, (part, name) => {
    isReadable &&= name === SNAPSHOT_NAME && isDecoded(decoder, part);
  });
  if (read === undefined || !read.ok) return read;
  if (read.name !== SNAPSHOT_NAME) return { ok: false, name: read.name, fault: 'unread' };
  const isFit = isReadable && read.head.size <= size && isOfThisFold(decoder, read.head.size);
  return isFit ? { ok: true, state: decoder.state } : { ok: false, name: read.name, fault: 'unfit' };
}

function isDecoded(decoder: StateDecoder, part: Uint8Array): boolean {
  try {
    decoder.add(new TextDecoder().decode(part));
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a fold of all entries would give this state. Another version may have folded entries that this version does
 * not know, and an entry that was unknown then may be known now.
 */
function isOfThisFold({ state, types }: StateDecoder, size: number): boolean {
  if (state.seq !== size || state.unknown.size > 0) return false;
  return types.size === KNOWN_TYPES.size && types.isSubsetOf(KNOWN_TYPES);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(ENTRY_TYPES);

const DISCARD_REASONS = {
  unsigned: 'it is not signed',
  unread: 'this version does not read it',
  foreign: 'no key of this ledger has signed it',
  damaged: 'it cannot be read',
  homeless: 'its entry is not in the ledger',
  unfit: 'it does not fit the ledger',
} as const;

/** Raised with every change of the fold. Snapshots of an older fold are then ignored, and all entries are folded. */
export const SNAPSHOT_NAME = 'state-21';

function createTrackedState(): State {
  return emptyState(() => new TrackedMap());
}

/** Renders a snapshot. It is derived data: without it, only the start takes longer. */
export function* encodeSnapshot(view: StateView): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const part of encodeState(view, ENTRY_TYPES)) yield encoder.encode(part);
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
      compare: () => new StateComparison(state),
    };
  },
};

/** Compares a state with the parts of a snapshot, without restoring a second state. */
class StateComparison {
  readonly #state: State;
  readonly #left: Map<string, number>;
  #isHeader = true;
  #isEqual = true;

  constructor(state: State) {
    this.#state = state;
    this.#left = new Map(viewState(state).maps.map(([name]) => [name, sizeOf(state, name)]));
  }

  add(part: Uint8Array): void {
    if (!this.#isEqual) return;
    try {
      this.#isEqual = this.#matches(JSON.parse(new TextDecoder().decode(part)));
    } catch {
      this.#isEqual = false;
    }
  }

  get isEqual(): boolean {
    return this.#isEqual && !this.#isHeader && [...this.#left.values()].every((left) => left === 0);
  }

  /** Ignores the order of keys, which depends on restarts and on reverted commits. */
  #matches(part: unknown): boolean {
    if (this.#isHeader) {
      this.#isHeader = false;
      return fieldOf(part, 'seq') === this.#state.seq;
    }
    for (const [name, key, value] of pairsOf(part)) {
      const own: unknown = mapOf(this.#state, name)?.get(key);
      this.#left.set(name, (this.#left.get(name) ?? 0) - 1);
      if (own === undefined || !isDeepStrictEqual(JSON.parse(JSON.stringify(own)), value)) return false;
    }
    return true;
  }
}

function mapOf(state: State, name: string): ReadonlyMap<string, unknown> | undefined {
  const part: unknown = Reflect.get(state, name);
  return part instanceof Map ? part : undefined;
}

function sizeOf(state: State, name: string): number {
  return mapOf(state, name)?.size ?? 0;
}
