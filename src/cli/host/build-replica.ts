import { existsSync, renameSync, rmSync } from 'node:fs';
import type { Signer } from '../../ledger/format/crypto.ts';
import { copyCommits } from '../../ledger/replica/copy.ts';
import { openReplica } from '../../ledger/replica/open-replica.ts';
import { makeReplicatedStore } from '../../ledger/replica/replicated-store.ts';
import type { Failure, Store } from '../../ledger/store.ts';
import { nodeSha256, nodeVerifier } from '../../ledger/writer/keys.ts';
import type { LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { openStoreAt } from '../../ledger/writer/open.ts';
import type { Io } from '../command.ts';
import { createProgress } from '../ledger/verify.ts';
import { type FleetOnRecord, readFleetOnRecord } from '../store/fleet-on-record.ts';

export interface BuiltReplica {
  readonly ok: true;
  readonly fleet: FleetOnRecord | undefined;
  /** Makes the copy the replica of this state folder. */
  keep(): void;
  drop(): void;
}

/**
 * Copies the chain to this machine, so that the daemon starts at once. The file has another name until the host has
 * requested to join, because a file at the replica's path would count as this machine's ledger. An interrupted copy
 * continues.
 */
export async function buildReplica(
  shared: Store,
  place: LedgerPlace,
  signer: Signer,
  io: Io,
): Promise<BuiltReplica | Failure> {
  // The daemon may have the file open.
  if (existsSync(place.ledger)) {
    const fleet = await readFleet(place, shared);
    return 'problem' in fleet ? fleet : { ...fleet, keep: () => undefined, drop: () => undefined };
  }
  const draft = { ...place, ledger: `${place.ledger}.joining` };
  const opened = await openReplica(draft, { verifier: nodeVerifier, signer });
  if (!opened.ok) return opened;
  const end = await shared.head();
  const progress = createProgress(io, end.size);
  const copied = await copyCommits(shared, opened.store, end, { sha256: nodeSha256, onProgress: progress.show });
  progress.clear();
  await opened.store.close();
  if (!copied.ok) return copied;
  const fleet = await readFleet(draft);
  if ('problem' in fleet) return fleet;
  return {
    ...fleet,
    keep: () => renameSync(draft.ledger, place.ledger),
    drop: () => rmSync(draft.ledger, { force: true }),
  };
}

/** Reads from `shared` what the copy lacks. */
async function readFleet(
  place: LedgerPlace,
  shared?: Store,
): Promise<{ readonly ok: true; readonly fleet: FleetOnRecord | undefined } | Failure> {
  const opened = await openStoreAt(place);
  if (!opened.ok) return opened;
  const store = shared === undefined ? opened.store : makeReplicatedStore(shared, opened.store);
  const fleet = await readFleetOnRecord(store);
  await opened.store.close();
  return { ok: true, fleet };
}
