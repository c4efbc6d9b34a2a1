import { fieldOf, listOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { parseBase64, toBase64 } from '../format/bytes.ts';
import { type NoteKey, originOf, parseKey, renderKey } from '../format/checkpoint.ts';
import type { Sha256, Verifier } from '../format/crypto.ts';
import type { TreeHead } from '../format/merkle.ts';
import { findSnapshot, type SnapshotSigner, storeSnapshot } from '../snapshots-and-blobs.ts';
import type { Head, Store } from '../store.ts';

/**
 * The name of a snapshot in the replica: the tree at an entry and the keys that the chain trusts there, signed by this
 * machine. The next start verifies from there. Without the mark, a start would read every entry to find other hosts'
 * keys: an index of key entries would cost every append, and a replica has the schema of a local ledger.
 */
export const REPLICA_MARK = 'replica-1';

export interface ReplicaMark {
  readonly tree: TreeHead;
  readonly keys: readonly NoteKey[];
}

export async function saveMark(
  replica: Store,
  by: SnapshotSigner,
  { head, root }: { readonly head: Head; readonly root: Uint8Array },
  trusted: readonly NoteKey[],
): Promise<void> {
  const keys = trusted.map((key) => renderKey(by.sha256, key));
  const text = JSON.stringify({ root: toBase64(root), keys });
  // The mark is derived data: without it, the next start takes longer.
  await storeSnapshot(replica, by, REPLICA_MARK, head, new TextEncoder().encode(text));
}

/** Returns undefined if there is no mark, or this machine has not signed it. */
export async function findMark(
  replica: Store,
  trust: { readonly project: string; readonly verifier: Verifier; readonly publicKey: Uint8Array },
): Promise<ReplicaMark | undefined> {
  const { project, verifier, publicKey } = trust;
  const own = { name: originOf(project), publicKey };
  const found = await findSnapshot(replica, { project, verifier, keys: [own] }, REPLICA_MARK);
  if (!found?.ok) return undefined;
  const state: unknown = JSON.parse(new TextDecoder().decode(found.state));
  const root = parseBase64(textOf(fieldOf(state, 'root')));
  const keys = listOf(fieldOf(state, 'keys')).map((key) => readKey(verifier.sha256, key));
  if (root === undefined || keys.includes(undefined)) return undefined;
  return { tree: { size: found.head.size, root }, keys: keys.filter((key) => key !== undefined) };
}

function readKey(sha256: Sha256, text: unknown): NoteKey | undefined {
  const key = parseKey(sha256, textOf(text));
  return key.ok ? key.value : undefined;
}

/**
 * Reports whether the store is a replica. Other processes must not write to a replica, and it lacks blobs that this
 * host has not read.
 */
export async function isReplica(store: Pick<Store, 'snapshotNames'>): Promise<boolean> {
  return (await store.snapshotNames()).includes(REPLICA_MARK);
}

/** Converts a replica to an independent ledger, after `copyLedger` has completed it. */
export async function detachReplica(replica: Store): Promise<void> {
  await replica.dropSnapshot(REPLICA_MARK);
}
