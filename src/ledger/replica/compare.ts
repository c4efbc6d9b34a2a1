import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { findHash, type Store, type StoredEntry } from '../store.ts';

/** The state of the shared store compared with a replica. `at` is the number of the first entry that differs. */
export type ReplicaComparison =
  | 'same'
  | { readonly kind: 'ahead' | 'behind'; readonly size: number; readonly replicaSize: number }
  | { readonly kind: 'forked'; readonly at: number };

type Readable = Pick<Store, 'head' | 'hashes'>;

/**
 * Compares the shared store with a replica. `behind`: the shared store has lost entries that the replica has. Reads
 * three hashes if nothing is wrong.
 */
export async function compareWithReplica(shared: Readable, replica: Readable): Promise<ReplicaComparison> {
  const { size: replicaSize } = await replica.head();
  const { size } = await shared.head();
  const common = Math.min(size, replicaSize);
  if (!(await isSameAt(shared, replica, common)))
    return { kind: 'forked', at: await findFork(shared, replica, common) };
  if (size === replicaSize) return 'same';
  return { kind: size > replicaSize ? 'ahead' : 'behind', size, replicaSize };
}

/** Finds the first difference by binary search, because an entry's hash covers all entries before it. */
async function findFork(a: Readable, b: Readable, end: number): Promise<number> {
  let same = 0;
  let differs = end;
  while (differs - same > 1) {
    const middle = same + Math.floor((differs - same) / 2);
    if (await isSameAt(a, b, middle)) same = middle;
    else differs = middle;
  }
  return differs;
}

async function isSameAt(a: Readable, b: Readable, size: number): Promise<boolean> {
  if (size === 0) return true;
  const [left, right] = [await findHash(a, size), await findHash(b, size)];
  return left !== undefined && right !== undefined && sameBytes(left, right);
}

/** Why a ledger with this replica must not be used; undefined if the shared store contains the whole replica. */
export function lossProblem(found: ReplicaComparison): Problem | undefined {
  if (found === 'same' || found.kind === 'ahead') return undefined;
  if (found.kind === 'forked') {
    const message = `the shared ledger and the replica of this machine differ from entry ${found.at} on`;
    return ledgerProblem('ledger/forked', message, COMPARE);
  }
  const message = `entries ${found.size + 1} to ${found.replicaSize} are missing from the shared ledger: the replica of this machine has them`;
  return ledgerProblem('ledger/rolled-back', message, DO_NOT_WRITE);
}

/** Reports what a shared store has lost, compared with this machine's replica. */
export async function findLoss({ parts }: Pick<Store, 'parts'>): Promise<Problem | undefined> {
  return parts && lossProblem(await compareWithReplica(parts.shared, parts.replica));
}

const COMPARE =
  'See the first difference: baton store compare. Nothing is written until you accept it: baton store accept.';

export interface LedgerDifference {
  readonly at: number;
  /** Undefined if the left ledger ends before this entry. */
  readonly left: StoredEntry | undefined;
  readonly right: StoredEntry | undefined;
}

/** The first entry that differs, and each ledger's version of it; undefined if both ledgers are equal. */
export async function compareLedgers(left: Store, right: Store): Promise<LedgerDifference | undefined> {
  const found = await compareWithReplica(left, right);
  if (found === 'same') return undefined;
  const at = found.kind === 'forked' ? found.at : Math.min(found.size, found.replicaSize) + 1;
  return { at, left: await findEntry(left, at), right: await findEntry(right, at) };
}

async function findEntry(store: Store, seq: number): Promise<StoredEntry | undefined> {
  for await (const [entry] of store.entries({ from: seq, to: seq })) return entry;
  return undefined;
}
