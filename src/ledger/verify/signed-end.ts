import type { Verifier } from '../format/crypto.ts';
import { GENESIS } from '../format/chain.ts';
import type { Head, Store } from '../store.ts';
import { Keyring } from './keyring.ts';
import { type LedgerFault, ledgerFault, LedgerWalk } from './walk.ts';

/** The newest entry that a trusted key has signed, after entries that are all good, and the first fault after it. */
export interface SignedEnd {
  readonly head: Head;
  /** Undefined if the ledger ends there. */
  readonly fault: LedgerFault | undefined;
}

/** Reads every row of a ledger and checks every signature, so it takes a while for a long one. */
export async function findSignedEnd(
  store: Pick<Store, 'entries'>,
  verifier: Verifier,
  project: string,
): Promise<SignedEnd> {
  const walk = new LedgerWalk(verifier, project, new Keyring(verifier, project));
  let head: Head = GENESIS;
  // Rows below 1 belong to no ledger.
  for await (const batch of store.entries({ from: Number.MIN_SAFE_INTEGER })) {
    for (const step of walk.steps(batch)) {
      if (!step.ok) return { head, fault: step.finding };
      const { seq, hash, note } = step.stored;
      const fault = note === undefined ? undefined : await walk.findFault({ size: seq, note }, 'check');
      if (fault !== undefined) return { head, fault };
      if (note !== undefined) head = { size: seq, hash };
    }
  }
  const { size } = walk.position.head;
  if (size === head.size) return { head, fault: undefined };
  const message = `entries ${head.size + 1} to ${size} are covered by no signed checkpoint`;
  return { head, fault: ledgerFault(head.size + 1, 'ledger/unsigned', message) };
}
