import type { Problem } from '../protocol/problem.ts';
import { GENESIS } from './chain.ts';
import { originOf, parseCheckpoint, type Checkpoint } from './checkpoint.ts';
import type { Signer, Verifier } from './crypto.ts';
import { parseEntry } from './entry.ts';
import { sameBytes } from './hex.ts';
import { DO_NOT_WRITE, ledgerProblem } from './ledger-problem.ts';
import { Frontier, leafHash } from './merkle.ts';
import { findSigningKey } from './note.ts';
import { verifyInclusion } from './proof.ts';
import type { Store } from './store.ts';
import { TileCheck } from './tile-check.ts';
import { Tree } from './tree.ts';
import { Keyring } from './trust.ts';
import { findFirstFault, findUnsigned, findWrongTile } from './verify-walk.ts';
import { walkOn } from './walk-on.ts';
import { Walk, type Position } from './walk.ts';

export interface Recognition {
  readonly store: Store;
  readonly project: string;
  readonly verifier: Verifier;
  readonly signer: Pick<Signer, 'publicKey'>;
  /** The text of the outside checkpoint. */
  readonly outside: string | undefined;
}

export type Recognized =
  | { readonly ok: true; readonly position: Position; readonly keyring: Keyring }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Is this still the ledger that was here? It must contain the outside checkpoint, and everything after it must be right.
 * It only reads. Where the outside copy is missing or torn there is nothing to start from, and all of it is walked.
 */
export async function recognizeLedger(what: Recognition): Promise<Recognized> {
  const outside = await readOutside(what);
  const { size } = await what.store.head();
  if (outside && outside.size > size) return gone(size, outside.size);
  const near = outside && (await walkFrom(what, outside));
  // A key that was added long ago is only found by walking everything.
  if (near && (near.ok || near.problem.code !== 'ledger/wrong-signature')) {
    if (!near.ok || ownKeyTrusted(what, near.keyring)) return near;
  }
  const whole = await walkAll(what);
  if (!whole.ok || size === 0 || ownKeyTrusted(what, whole.keyring)) return whole;
  return refuse(
    'ledger/key-not-trusted',
    'the key of this machine is not one of those that this ledger trusts',
    'Put the signing key back, or have a trusted daemon add this one.',
  );
}

/** Only a copy that this machine, or a key it has named, really signed says anything. */
async function readOutside(what: Recognition): Promise<Checkpoint | undefined> {
  const checkpoint = what.outside === undefined ? undefined : parseCheckpoint(what.outside);
  if (!checkpoint?.ok || checkpoint.value.origin !== originOf(what.project)) return undefined;
  const key = { name: originOf(what.project), publicKey: what.signer.publicKey };
  return (await findSigningKey(what.verifier, checkpoint.value.note, [key])) && checkpoint.value;
}

async function walkAll({ store, verifier, project }: Recognition): Promise<Recognized> {
  const keyring = new Keyring(verifier, project);
  const start = { head: GENESIS, frontier: new Frontier(verifier.sha256) };
  const walk = new Walk(verifier, project, keyring, start);
  const fault = await findFirstFault(store, walk, undefined, {});
  return fault ? { ok: false, problem: fault.problem } : { ok: true, position: walk.position, keyring };
}

async function walkFrom(what: Recognition, outside: Checkpoint): Promise<Recognized> {
  const { store, verifier, project } = what;
  const keyring = new Keyring(verifier, project);
  const start = await startAt(what, outside, keyring);
  if ('ok' in start) return start;
  const walk = new Walk(verifier, project, keyring, start);
  const tiles = new TileCheck(store, start.head.size);
  const fault = (await walkOn(store, walk, (_entries, made) => tiles.add(made))) ?? (await findUnsigned(store));
  if (fault) return { ok: false, problem: fault.problem };
  await tiles.finish();
  const wrong = findWrongTile(tiles);
  return wrong ? { ok: false, problem: wrong.problem } : { ok: true, position: walk.position, keyring };
}

/** The position of the outside checkpoint inside the stored tree, with the first key, which must be in that tree, too. */
async function startAt(what: Recognition, outside: Checkpoint, keyring: Keyring): Promise<Position | Recognized> {
  const { store, verifier } = what;
  const tree = new Tree(store, verifier.sha256, outside.size);
  const frontier = await tree.findFrontier(outside.size);
  if (!frontier || !sameBytes(frontier.root(), outside.root)) return forked(outside.size);
  for await (const [first] of store.entries({ from: 1, to: 1 })) {
    const entry = first && parseEntry(first.bytes);
    const proof = await tree.findInclusionProof(0, outside.size);
    const leaf = first && leafHash(verifier.sha256, first.bytes);
    if (!entry?.ok || !leaf || !proof || !verifyInclusion(verifier.sha256, leaf, 0, outside, proof)) {
      return forked(outside.size);
    }
    keyring.trustFirst(entry.value);
  }
  for await (const [hash] of store.hashes({ from: outside.size, to: outside.size })) {
    if (hash) return { head: { size: outside.size, hash }, frontier };
  }
  return forked(outside.size);
}

function ownKeyTrusted(what: Recognition, keyring: Keyring): boolean {
  return keyring.trusts({ name: originOf(what.project), publicKey: what.signer.publicKey });
}

function gone(size: number, outside: number): Recognized {
  return refuse(
    'ledger/rolled-back',
    `entries ${size + 1} to ${outside} are missing from the end of the ledger: the outside checkpoint has seen them`,
  );
}

function forked(size: number): Recognized {
  return refuse(
    'ledger/forked',
    `the first ${size} entries of the ledger are not those that the outside checkpoint has seen`,
  );
}

function refuse(code: string, message: string, hint = DO_NOT_WRITE): Recognized {
  return { ok: false, problem: ledgerProblem(code, message, hint) };
}
