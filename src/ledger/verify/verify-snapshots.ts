import { blobName } from '../blob.ts';
import type { Sha256 } from '../format/crypto.ts';
import { sameBytes } from '../format/bytes.ts';
import { findSnapshot } from '../snapshots-and-blobs.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import { isUnsignedSnapshotName, type SnapshotFault, type SnapshotTrust } from '../snapshot.ts';
import type { Store } from '../store.ts';
import type { LedgerFault } from './walk.ts';

/** What is wrong with what is kept beside the entries, and what is only odd. */
export interface SnapshotAndBlobFaults {
  readonly findings: readonly LedgerFault[];
  readonly warnings: readonly string[];
}

/** Checks blobs, snapshots, and the store's own order. */
export async function findSnapshotAndBlobFaults(store: Store, trust: SnapshotTrust): Promise<SnapshotAndBlobFaults> {
  const sentences = await store.inspect();
  const blobs = await findBlobFaults(store, trust.verifier.sha256);
  const snapshots = await findSnapshotFaults(store, trust);
  return {
    findings: [
      ...sentences.map((sentence) => snapshotFault('ledger/store', sentence)),
      ...blobs,
      ...snapshots.findings,
    ],
    warnings: snapshots.warnings,
  };
}

async function findBlobFaults(store: Store, sha256: Sha256): Promise<LedgerFault[]> {
  const faults: LedgerFault[] = [];
  for await (const batch of store.blobs()) {
    for (const { hash, bytes } of batch) {
      if (sameBytes(sha256(bytes), hash)) continue;
      faults.push(snapshotFault('ledger/wrong-blob', `the blob ${blobName(hash)} is not what was recorded`));
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
  return { findings, warnings };
}

const WRONG: Readonly<Record<SnapshotFault | 'homeless', (name: string) => LedgerFault>> = {
  homeless: (name) =>
    snapshotFault('ledger/wrong-snapshot', `the snapshot ${name} does not stand on its entry; it will be rebuilt`),
  damaged: (name) => snapshotFault('ledger/wrong-snapshot', `the snapshot ${name} cannot be read; it will be rebuilt`),
  unsigned: (name) => forgedSnapshot(name, 'it is not signed', DISCARDED),
  foreign: (name) => forgedSnapshot(name, 'no key of this ledger has signed it', DISCARDED),
};

const DISCARDED = 'Baton does not read it, and folds the entries again: baton up. Find out who wrote to the database.';

/** A state that no daemon of this ledger folded. */
export function forgedSnapshot(name: string, why: string, hint: string): LedgerFault {
  return {
    seq: null,
    problem: ledgerProblem('ledger/forged-snapshot', `the snapshot ${name} is forged: ${why}`, hint),
  };
}

function snapshotFault(code: string, message: string): LedgerFault {
  return { seq: null, problem: ledgerProblem(code, message, DO_NOT_WRITE) };
}
