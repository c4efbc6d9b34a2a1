import { GENESIS } from '../format/chain.ts';
import type { Checkpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { sameBytes, toHex } from '../format/bytes.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/ledger-problem.ts';
import { Frontier } from '../format/merkle.ts';
import type { Store } from '../store.ts';
import { Tree } from '../format/tree.ts';
import { Keyring } from '../verify/keyring.ts';
import { LedgerWalk, type LedgerFault, type WalkPosition } from '../verify/walk.ts';

/** A tree that somebody has vouched for before. Its root is in hex. */
export interface TrustedTree {
  readonly size: number;
  readonly root: string;
}

/**
 * Is what lies in the store, from the last seal to this checkpoint, what the checkpoint states? Whoever vouches for a tree
 * looks at it first; what was looked at for the seal before is not looked at again, so that a seal costs what is new.
 */
export async function findFaultSince(
  store: Store,
  verifier: Verifier,
  project: string,
  last: TrustedTree | undefined,
  checkpoint: Checkpoint,
): Promise<LedgerFault | undefined> {
  const start = last ? await startAt(store, verifier, last) : begin(verifier);
  if (!start) return another(1, last?.size ?? 0);
  const walk = new LedgerWalk(verifier, project, new Keyring(verifier, project), start);
  for await (const batch of store.entries({ from: start.head.size + 1, to: checkpoint.size })) {
    for (const step of walk.steps(batch)) if (!step.ok) return step.finding;
  }
  const { head, frontier } = walk.position;
  const isIt = head.size === checkpoint.size && sameBytes(frontier.root(), checkpoint.root);
  return isIt ? undefined : another(start.head.size + 1, checkpoint.size);
}

function begin(verifier: Verifier): WalkPosition {
  return { head: GENESIS, frontier: new Frontier(verifier.sha256) };
}

async function startAt(
  store: Store,
  verifier: Verifier,
  { size, root }: TrustedTree,
): Promise<WalkPosition | undefined> {
  const frontier = await new Tree(store, verifier.sha256, size).findFrontier(size);
  if (!frontier || toHex(frontier.root()) !== root) return undefined;
  for await (const [hash] of store.hashes({ from: size, to: size })) {
    if (hash) return { head: { size, hash }, frontier };
  }
  return undefined;
}

function another(seq: number, size: number): LedgerFault {
  const message = `the first ${size} entries are not those of the tree that was signed`;
  return { seq, problem: ledgerProblem('ledger/wrong-root', message, DO_NOT_WRITE) };
}
