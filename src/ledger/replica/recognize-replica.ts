import { sameBytes } from '../format/bytes.ts';
import { GENESIS } from '../format/chain.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { Frontier } from '../format/merkle.ts';
import { TileCheck } from '../format/tree.ts';
import type { Failure, Store } from '../store.ts';
import { followStore, type VerifiedCommits } from '../verify/follow.ts';
import { Keyring } from '../verify/keyring.ts';
import { findWrongTile } from '../verify/verify-ledger.ts';
import { findPosition, LedgerWalk, type WalkPosition } from '../verify/walk.ts';
import { findMark, type ReplicaMark } from './replica-mark.ts';

export interface ReplicaTrust {
  readonly project: string;
  readonly verifier: Verifier;
  readonly signer: Pick<Signer, 'publicKey'>;
}

export type RecognizedReplica =
  | {
      readonly ok: true;
      readonly position: WalkPosition;
      readonly keyring: Keyring;
      readonly marked: { readonly size: number; readonly keys: Keyring['trusted'] };
    }
  | Failure;

/**
 * Checks that the end of a replica is intact: everything since its mark, and that a key which its chain trusts has
 * signed its last checkpoint. Without a mark, or with `whole`, everything is checked.
 */
export async function recognizeReplica(replica: Store, trust: ReplicaTrust, whole = false): Promise<RecognizedReplica> {
  const { verifier, project, signer } = trust;
  const mark = await findMark(replica, { project, verifier, publicKey: signer.publicKey });
  const start = whole ? undefined : mark && (await findStart(replica, trust, mark));
  const keyring = new Keyring(verifier, project, start ? mark?.keys : []);
  const walk = new LedgerWalk(verifier, project, keyring, start ?? genesis(trust));
  const from = walk.position.head.size;
  const tiles = new TileCheck(replica, from);
  const commits = followStore(replica, walk);
  for (let step = await commits.next(); ; step = await commits.next()) {
    if (step.done === true) {
      if (step.value === 'head-missing') return damaged('its last entries are missing');
      if (step.value) return { ok: false, problem: step.value.problem };
      break;
    }
    await tiles.add(tilesOf(step.value));
  }
  await tiles.finish();
  const wrong = findWrongTile(tiles);
  if (wrong) return { ok: false, problem: wrong.problem };
  const marked = start && mark ? { size: from, keys: keyring.trusted } : { size: 0, keys: [] };
  return { ok: true, position: walk.position, keyring, marked };
}

/** Returns undefined if the tree in the replica differs from the marked one. */
async function findStart(
  replica: Store,
  { verifier }: ReplicaTrust,
  { tree }: ReplicaMark,
): Promise<WalkPosition | undefined> {
  const start = await findPosition(replica, verifier.sha256, tree.size);
  return start && sameBytes(start.frontier.root(), tree.root) ? start : undefined;
}

function genesis({ verifier }: ReplicaTrust): WalkPosition {
  return { head: GENESIS, frontier: new Frontier(verifier.sha256), isNumbered: false };
}

function tilesOf({ commit }: VerifiedCommits): VerifiedCommits['commit']['tiles'] {
  return commit.tiles;
}

function damaged(what: string): RecognizedReplica {
  return { ok: false, problem: ledgerProblem('ledger/damaged', `the replica is damaged: ${what}`, DO_NOT_WRITE) };
}
