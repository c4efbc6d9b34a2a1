import { blobName } from './blob.ts';
import type { Sha256 } from './crypto.ts';
import { sameBytes } from './hex.ts';
import { DO_NOT_WRITE, ledgerProblem } from './ledger-problem.ts';
import { openSnapshot } from './snapshot.ts';
import type { Store } from './store.ts';
import type { Finding } from './walk.ts';

/** Checks what is kept beside the entries: blobs, snapshots, and the store's own order. */
export async function findKeptFaults(store: Store, sha256: Sha256): Promise<Finding[]> {
  const sentences = await store.inspect();
  return [
    ...sentences.map((sentence) => finding('ledger/store', sentence)),
    ...(await findBlobFaults(store, sha256)),
    ...(await findSnapshotFaults(store, sha256)),
  ];
}

async function findBlobFaults(store: Store, sha256: Sha256): Promise<Finding[]> {
  const faults: Finding[] = [];
  for await (const batch of store.blobs()) {
    for (const { hash, bytes } of batch) {
      if (sameBytes(sha256(bytes), hash)) continue;
      faults.push(finding('ledger/wrong-blob', `the blob ${blobName(hash)} is not what was recorded`));
    }
  }
  return faults;
}

async function findSnapshotFaults(store: Store, sha256: Sha256): Promise<Finding[]> {
  const faults: Finding[] = [];
  for (const name of await store.snapshotNames()) {
    const snapshot = await store.findSnapshot(name);
    const stands = snapshot && (await standsOn(store, snapshot.size, snapshot.hash));
    if (snapshot && stands && openSnapshot(sha256, name, snapshot)) continue;
    faults.push(
      finding('ledger/wrong-snapshot', `the snapshot ${name} does not stand on its entry; it will be rebuilt`),
    );
  }
  return faults;
}

async function standsOn(store: Store, size: number, hash: Uint8Array): Promise<boolean> {
  for await (const [stored] of store.hashes({ from: size, to: size })) {
    return stored !== undefined && sameBytes(stored, hash);
  }
  return false;
}

function finding(code: string, message: string): Finding {
  return { seq: null, problem: ledgerProblem(code, message, DO_NOT_WRITE) };
}
