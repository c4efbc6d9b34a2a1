import type { Problem } from '../../protocol/shape/problem.ts';
import type { Verifier } from '../format/crypto.ts';
import type { Entry } from '../format/entry.ts';
import { walkWholeLedger } from './recognize.ts';
import type { Store } from '../store.ts';
import type { Keyring } from '../verify/keyring.ts';
import { walkToNewestCheckpoint } from '../verify/walk-on.ts';
import { LedgerWalk, type WalkPosition } from '../verify/walk.ts';

export interface FollowedLedger {
  readonly store: Store;
  readonly verifier: Verifier;
  readonly project: string;
}

export type NewEntries =
  | {
      readonly ok: true;
      readonly entries: readonly Entry[];
      readonly position: WalkPosition;
      readonly keyring: Keyring;
    }
  | { readonly ok: false; readonly problem: Problem };

/** Reads and checks what others have recorded after a position. */
export async function readNewEntries(what: FollowedLedger, from: WalkPosition, keyring: Keyring): Promise<NewEntries> {
  const news = await walkNewEntries(what, from, keyring);
  if (news.ok || news.problem.code !== 'ledger/wrong-signature') return news;
  // Signed by another machine, whose key was added before this one looked: only the whole history names it.
  const whole = await walkWholeLedger(what);
  return whole.ok ? walkNewEntries(what, from, whole.keyring) : whole;
}

async function walkNewEntries(what: FollowedLedger, from: WalkPosition, keyring: Keyring): Promise<NewEntries> {
  const entries: Entry[] = [];
  const walk = new LedgerWalk(what.verifier, what.project, keyring, from);
  const fault = await walkToNewestCheckpoint(what.store, walk, (batch) => {
    entries.push(...batch);
  });
  return fault ? { ok: false, problem: fault.problem } : { ok: true, entries, position: walk.position, keyring };
}
