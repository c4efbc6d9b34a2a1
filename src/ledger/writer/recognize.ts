import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import { GENESIS } from '../format/chain.ts';
import { type Checkpoint, findSigningKey, type NoteKey, originOf, parseCheckpoint } from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import type { Entry } from '../format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { Frontier } from '../format/merkle.ts';
import { TileCheck, Tree } from '../format/tree.ts';
import type { Store } from '../store.ts';
import { Keyring } from '../verify/keyring.ts';
import { findFirstFault, findUnsigned, findWrongTile } from '../verify/verify-ledger.ts';
import { LedgerWalk, type WalkPosition, walkToNewestCheckpoint } from '../verify/walk.ts';

export interface RecognizeOptions {
  readonly store: Store;
  readonly project: string;
  readonly verifier: Verifier;
  readonly signer: Pick<Signer, 'publicKey'>;
  /** The text of the outside checkpoint. */
  readonly outside: string | undefined;
}

export type RecognizedLedger =
  | { readonly ok: true; readonly position: WalkPosition; readonly keyring: Keyring }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Is this still the ledger that was here? It must contain the outside checkpoint, and everything after it must be right.
 * It only reads. Where the outside copy is missing or torn there is nothing to start from, and all of it is walked.
 */
export async function recognizeLedger(what: RecognizeOptions): Promise<RecognizedLedger> {
  const outside = await readOutside(what);
  const { size } = await what.store.head();
  if (outside && outside.size > size) return entriesMissing(size, outside.size);
  const near = outside && (await walkFrom(what, outside));
  // The keys of other machines, added long ago, are only found by walking everything.
  if (near && (near.ok || near.problem.code !== 'ledger/wrong-signature')) return near;
  const whole = await walkWholeLedger(what);
  if (!whole.ok || size === 0 || whole.keyring.trusts(ownKey(what))) return whole;
  return refuse(
    'ledger/key-not-trusted',
    'the key of this machine is not one of those that this ledger trusts',
    'Put the signing key back, or have a trusted daemon add this one.',
  );
}

/** Only a copy that this machine really signed says anything. */
async function readOutside(what: RecognizeOptions): Promise<Checkpoint | undefined> {
  const checkpoint = what.outside === undefined ? undefined : parseCheckpoint(what.outside);
  if (!checkpoint?.ok || checkpoint.value.origin !== originOf(what.project)) return undefined;
  return (await findSigningKey(what.verifier, checkpoint.value.note, [ownKey(what)])) && checkpoint.value;
}

/** Walks everything: slow, but it meets every key that was ever added. */
export async function walkWholeLedger({
  store,
  verifier,
  project,
}: Pick<RecognizeOptions, 'store' | 'verifier' | 'project'>): Promise<RecognizedLedger> {
  const keyring = new Keyring(verifier, project);
  const start = { head: GENESIS, frontier: new Frontier(verifier.sha256) };
  const walk = new LedgerWalk(verifier, project, keyring, start);
  const fault = await findFirstFault(store, walk, undefined, {});
  return fault ? { ok: false, problem: fault.problem } : { ok: true, position: walk.position, keyring };
}

async function walkFrom(what: RecognizeOptions, outside: Checkpoint): Promise<RecognizedLedger> {
  const { store, verifier, project } = what;
  const keyring = new Keyring(verifier, project);
  const start = await startAt(what, outside, keyring);
  if ('ok' in start) return start;
  const walk = new LedgerWalk(verifier, project, keyring, start);
  const tiles = new TileCheck(store, start.head.size);
  const fault =
    (await walkToNewestCheckpoint(store, walk, (_entries, made) => tiles.add(made))) ?? (await findUnsigned(store));
  if (fault) return { ok: false, problem: fault.problem };
  await tiles.finish();
  const wrong = findWrongTile(tiles);
  return wrong ? { ok: false, problem: wrong.problem } : { ok: true, position: walk.position, keyring };
}

/**
 * The position of the outside checkpoint inside the stored tree. This machine signed it, and the ledger contains it, so
 * its key is one that the ledger trusts.
 */
async function startAt(
  what: RecognizeOptions,
  outside: Checkpoint,
  keyring: Keyring,
): Promise<WalkPosition | RecognizedLedger> {
  const { store, verifier } = what;
  const frontier = await new Tree(store, verifier.sha256, outside.size).findFrontier(outside.size);
  if (!frontier || !sameBytes(frontier.root(), outside.root)) return forked(outside.size);
  keyring.trust(ownKey(what));
  for await (const [hash] of store.hashes({ from: outside.size, to: outside.size })) {
    if (hash) return { head: { size: outside.size, hash }, frontier };
  }
  return forked(outside.size);
}

function ownKey(what: RecognizeOptions): NoteKey {
  return { name: originOf(what.project), publicKey: what.signer.publicKey };
}

function entriesMissing(size: number, outside: number): RecognizedLedger {
  return refuse(
    'ledger/rolled-back',
    `entries ${size + 1} to ${outside} are missing from the end of the ledger: the outside checkpoint has seen them`,
  );
}

function forked(size: number): RecognizedLedger {
  return refuse(
    'ledger/forked',
    `the first ${size} entries of the ledger are not those that the outside checkpoint has seen`,
  );
}

function refuse(code: string, message: string, hint = DO_NOT_WRITE): RecognizedLedger {
  return { ok: false, problem: ledgerProblem(code, message, hint) };
}

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
