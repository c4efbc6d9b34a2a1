import { sameBytes } from '../format/bytes.ts';
import { type Checkpoint, findSigningKey, type NoteKey, originOf, parseCheckpoint } from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import type { Entry } from '../format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { TileCheck } from '../format/tree.ts';
import type { Failure, Store } from '../store.ts';
import { Keyring } from '../verify/keyring.ts';
import { findFirstFault, findUnsigned, findWrongTile } from '../verify/verify-ledger.ts';
import { findPosition, LedgerWalk, type WalkPosition, walkToNewestCheckpoint } from '../verify/walk.ts';

export interface RecognizeOptions extends FollowedLedger {
  readonly signer: Pick<Signer, 'publicKey'>;
  readonly outside: string | undefined;
}

export type RecognizedLedger =
  | { readonly ok: true; readonly position: WalkPosition; readonly keyring: Keyring }
  | Failure;

/** The ledger must contain the outside checkpoint and be valid after it. Without a valid copy the whole ledger is walked. */
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
    'the key of this machine is not trusted by this ledger',
    'Restore the signing key, or let a trusted daemon add this one.',
  );
}

/** Accepts only a copy signed by this machine. */
async function readOutside(what: RecognizeOptions): Promise<Checkpoint | undefined> {
  const checkpoint = what.outside === undefined ? undefined : parseCheckpoint(what.outside);
  if (!checkpoint?.ok || checkpoint.value.origin !== originOf(what.project)) return undefined;
  return (await findSigningKey(what.verifier, checkpoint.value.note, [ownKey(what)])) && checkpoint.value;
}

/** Walks everything: slow, but finds every key ever added. */
async function walkWholeLedger({ store, verifier, project }: FollowedLedger): Promise<RecognizedLedger> {
  const keyring = new Keyring(verifier, project);
  const walk = new LedgerWalk(verifier, project, keyring);
  const fault = await findFirstFault(store, walk, undefined, {});
  return fault ? { ok: false, problem: fault.problem } : { ok: true, position: walk.position, keyring };
}

async function walkFrom(what: RecognizeOptions, outside: Checkpoint): Promise<RecognizedLedger> {
  const { store, verifier, project } = what;
  const start = await findPosition(store, verifier.sha256, outside.size);
  if (!start || !sameBytes(start.frontier.root(), outside.root)) return forked(outside.size);
  const keyring = new Keyring(verifier, project);
  // This machine signed the outside checkpoint and the ledger contains it, so the ledger trusts this machine's key.
  keyring.trust(ownKey(what));
  const walk = new LedgerWalk(verifier, project, keyring, start);
  const tiles = new TileCheck(store, start.head.size);
  const fault =
    (await walkToNewestCheckpoint(store, walk, (_entries, made) => tiles.add(made))) ?? (await findUnsigned(store));
  if (fault) return { ok: false, problem: fault.problem };
  await tiles.finish();
  const wrong = findWrongTile(tiles);
  return wrong ? { ok: false, problem: wrong.problem } : { ok: true, position: walk.position, keyring };
}

function ownKey(what: RecognizeOptions): NoteKey {
  return { name: originOf(what.project), publicKey: what.signer.publicKey };
}

function entriesMissing(size: number, outside: number): RecognizedLedger {
  return refuse(
    'ledger/rolled-back',
    `entries ${size + 1} to ${outside} are missing from the end of the ledger: the outside checkpoint covers them`,
  );
}

function forked(size: number): RecognizedLedger {
  return refuse('ledger/forked', `the first ${size} entries of the ledger differ from those of the outside checkpoint`);
}

function refuse(code: string, message: string, hint = DO_NOT_WRITE): RecognizedLedger {
  return { ok: false, problem: ledgerProblem(code, message, hint) };
}

export interface FollowedLedger {
  readonly store: Store;
  readonly verifier: Verifier;
  readonly project: string;
}

export type NewEntries = RecognizedLedger & ({ readonly ok: false } | { readonly entries: readonly Entry[] });

export async function readNewEntries(what: FollowedLedger, from: WalkPosition, keyring: Keyring): Promise<NewEntries> {
  const news = await walkNewEntries(what, from, keyring);
  if (news.ok || news.problem.code !== 'ledger/wrong-signature') return news;
  // Signed by another machine whose key was added before this position: only the whole history names it.
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
