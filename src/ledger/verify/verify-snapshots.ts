import { sameBytes } from '../format/bytes.ts';
import type { Sha256 } from '../format/crypto.ts';
import { type Entry, parseEntry } from '../format/entry.ts';

import {
  blobName,
  findSnapshot,
  isUnsignedSnapshotName,
  type SnapshotFault,
  type SnapshotTrust,
} from '../snapshots-and-blobs.ts';
import { readState } from '../state-parts.ts';
import type { Store } from '../store.ts';
import { type LedgerFault, ledgerFault } from './walk.ts';

export interface SnapshotAndBlobFaults {
  readonly findings: readonly LedgerFault[];
  readonly warnings: readonly string[];
}

export async function findSnapshotAndBlobFaults(store: Store, trust: SnapshotTrust): Promise<SnapshotAndBlobFaults> {
  const faults = (await store.inspect()).map((sentence) => ledgerFault(null, 'ledger/store', sentence));
  const blobs = await findBlobFaults(store, trust.verifier.sha256);
  const { findings, warnings } = await findSnapshotFaults(store, trust);
  return { findings: [...faults, ...blobs, ...findings], warnings };
}

async function findBlobFaults(store: Store, sha256: Sha256): Promise<LedgerFault[]> {
  const faults: LedgerFault[] = [];
  for await (const batch of store.blobs()) {
    for (const { hash, bytes } of batch) {
      if (sameBytes(sha256(bytes), hash)) continue;
      faults.push(ledgerFault(null, 'ledger/wrong-blob', `the blob ${blobName(hash)} is not what was recorded`));
    }
  }
  return faults;
}

async function findSnapshotFaults(store: Store, trust: SnapshotTrust): Promise<SnapshotAndBlobFaults> {
  const findings: LedgerFault[] = [];
  const warnings: string[] = [];
  for (const name of await store.snapshotNames()) {
    const found = await findSnapshot(store, trust, name);
    if (found === undefined || found.ok) continue;
    if (found.fault === 'unsigned' && isUnsignedSnapshotName(name))
      warnings.push(
        `the snapshot ${name} is not signed: an earlier version made it, and Baton discards it when it starts`,
      );
    else findings.push(WRONG[found.fault](name));
  }
  const state = await readState(store, trust, () => undefined);
  if (state?.ok === false) findings.push(WRONG[state.fault](state.name));
  return { findings, warnings };
}

const WRONG: Readonly<Record<SnapshotFault | 'homeless', (name: string) => LedgerFault>> = {
  homeless: (name) =>
    ledgerFault(null, 'ledger/wrong-snapshot', `the snapshot ${name} does not match its entry; it will be rebuilt`),
  damaged: (name) =>
    ledgerFault(null, 'ledger/wrong-snapshot', `the snapshot ${name} cannot be read; it will be rebuilt`),
  unsigned: (name) => forgedSnapshot(name, 'it is not signed', DISCARDED),
  foreign: (name) => forgedSnapshot(name, 'no key of this ledger has signed it', DISCARDED),
};

const DISCARDED =
  'Baton ignores the snapshot and rebuilds the state: baton up. Find out who wrote to the state folder.';

function forgedSnapshot(name: string, why: string, hint: string): LedgerFault {
  return ledgerFault(null, 'ledger/forged-snapshot', `the snapshot ${name} is forged: ${why}`, hint);
}

/** Folds entries into a snapshot's state. The caller defines the meaning of entries. */
export interface StateFold {
  readonly name: string;
  begin(): RunningFold;
}

interface RunningFold {
  /** Folds one entry. Returns its fault, or undefined if it was folded. */
  fold(entry: Entry): string | undefined;
  compare(): StateComparison;
}

interface StateComparison {
  add(part: Uint8Array): void;
  readonly isEqual: boolean;
}

export type RefoldResult =
  /** `entries` is 0 if there is no snapshot to compare. */
  { readonly ok: true; readonly entries: number } | { readonly ok: false; readonly finding: LedgerFault };

/**
 * Folds the verified entries again and compares: a signature proves who made a snapshot, folding proves that it is
 * correct.
 */
export async function refoldSnapshot(
  store: Store,
  trust: SnapshotTrust,
  fold: StateFold,
  onProgress?: (entries: number) => void,
): Promise<RefoldResult> {
  const snapshot = await readState(store, trust, () => undefined);
  if (snapshot === undefined || !snapshot.ok || snapshot.name !== fold.name) return { ok: true, entries: 0 };
  const { size } = snapshot.head;
  const folding = fold.begin();
  for await (const batch of store.entries({ from: 1, to: size })) {
    for (const { seq, bytes } of batch) {
      const entry = parseEntry(bytes);
      const wrong = entry.ok ? folding.fold(entry.value) : `entry ${seq} cannot be read`;
      if (wrong !== undefined) return { ok: false, finding: ledgerFault(seq, 'ledger/unreadable', wrong) };
    }
    onProgress?.(batch.at(-1)?.seq ?? 0);
  }
  const comparison = folding.compare();
  const again = await readState(store, trust, (part) => comparison.add(part));
  // A running daemon may have replaced the snapshot in the meantime.
  if (again?.ok !== true || again.head.size !== size) return { ok: true, entries: 0 };
  if (comparison.isEqual) return { ok: true, entries: size };
  const why = `it is signed, but differs from the state of entries 1 to ${size}`;
  return { ok: false, finding: forgedSnapshot(fold.name, why, REMOVE) };
}

/** The key has signed a state that its daemon did not fold, so another party has the private key. */
const REMOVE =
  'Stop Baton (baton down), remove the snapshot (the file of the ledger with the ending .state), and find out who can read key.pem.';
