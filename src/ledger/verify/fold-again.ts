import type { Entry } from '../format/entry.ts';
import { parseEntry } from '../format/entry.ts';
import { findSnapshot } from '../snapshots-and-blobs.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import type { SnapshotTrust } from '../snapshot.ts';
import type { Store } from '../store.ts';
import { forgedSnapshot } from './verify-snapshots.ts';
import type { LedgerFault } from './walk.ts';

/** How entries become the state that a snapshot holds. The ledger does not know what they mean, so this comes from its caller. */
export interface StateFold {
  /** The name of the snapshots that this fold makes. */
  readonly name: string;
  begin(): RefoldOptions;
}

export interface RefoldOptions {
  take(entry: Entry): void;
  /** Whether these bytes hold the state that the entries so far have made. */
  equals(state: Uint8Array): boolean;
}

export type RefoldResult =
  /** `entries` is 0 if there is no snapshot to compare with. */
  { readonly ok: true; readonly entries: number } | { readonly ok: false; readonly finding: LedgerFault };

/**
 * Folds the entries up to the stored snapshot again and compares: a signature proves who made a snapshot, this proves that it is true.
 * The entries themselves must have been verified. It needs as much memory as the state, whatever the length of the ledger.
 */
export async function refoldSnapshot(
  store: Store,
  trust: SnapshotTrust,
  fold: StateFold,
  onProgress?: (entries: number) => void,
): Promise<RefoldResult> {
  const snapshot = await findSnapshot(store, trust, fold.name);
  if (snapshot === undefined || !snapshot.ok) return { ok: true, entries: 0 };
  const { size } = snapshot.head;
  const folding = fold.begin();
  for await (const batch of store.entries({ from: 1, to: size })) {
    for (const { seq, bytes } of batch) {
      const entry = parseEntry(bytes);
      if (!entry.ok) return { ok: false, finding: unreadable(seq) };
      folding.take(entry.value);
    }
    onProgress?.(batch.at(-1)?.seq ?? 0);
  }
  if (folding.equals(snapshot.state)) return { ok: true, entries: size };
  const why = `it is signed, and it is not what the entries 1 to ${size} make`;
  return { ok: false, finding: forgedSnapshot(fold.name, why, REMOVE) };
}

/** The key has signed what its daemon did not fold: whoever did that can read the key. */
const REMOVE =
  "Stop Baton (baton down), remove the snapshot (sqlite3 FILE 'DELETE FROM snapshot'), and find out who can read key.pem.";

function unreadable(seq: number): LedgerFault {
  return { seq, problem: ledgerProblem('ledger/unreadable', `entry ${seq} cannot be read`, DO_NOT_WRITE) };
}
