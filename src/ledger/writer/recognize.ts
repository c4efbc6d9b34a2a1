import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes } from '../format/bytes.ts';
import {
  type Checkpoint,
  findSigningKey,
  keyId,
  type NoteKey,
  originOf,
  parseCheckpoint,
} from '../format/checkpoint.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../format/limits.ts';
import { TileCheck } from '../format/tree.ts';
import type { Failure, Head, Store } from '../store.ts';
import { type FollowEnd, followStore, type VerifiedCommits } from '../verify/follow.ts';
import { Keyring } from '../verify/keyring.ts';
import { findFirstFault, findUnsigned, findWrongTile } from '../verify/verify-ledger.ts';
import { findPosition, ledgerFault, LedgerWalk, type WalkPosition, walkToNewestCheckpoint } from '../verify/walk.ts';

export interface RecognizeOptions extends FollowedLedger {
  readonly signer: Pick<Signer, 'publicKey'>;
  readonly outside: string | undefined;
}

export type RecognizedLedger =
  | { readonly ok: true; readonly position: WalkPosition; readonly keyring: Keyring }
  | Failure;

/**
 * Requires that the ledger contains the outside checkpoint and is valid after it. Without a copy that this machine's
 * key signed, the whole ledger is walked: then other machines' keys are known too, and a copy signed by one of them
 * counts as well.
 */
export async function recognizeLedger(what: RecognizeOptions): Promise<RecognizedLedger> {
  const outside = readOutside(what);
  const isOwn = outside && (await findSigningKey(what.verifier, outside.note, [ownKey(what)])) !== undefined;
  const { size } = await what.store.head();
  if (isOwn && outside.size > size) return entriesMissing(size, outside.size);
  const near = isOwn ? await walkFrom(what, outside) : undefined;
  if (near && (near.ok || near.problem.code !== 'ledger/wrong-signature')) return near;
  const whole = await walkWholeLedger(what);
  if (!whole.ok) return whole;
  const loss = outside && !isOwn ? await findLoss(what, outside, whole) : undefined;
  if (loss) return loss;
  return size === 0 || whole.keyring.trusts(ownKey(what)) ? whole : { ok: false, problem: keyNotTrusted() };
}

function readOutside(what: RecognizeOptions): Checkpoint | undefined {
  const checkpoint = what.outside === undefined ? undefined : parseCheckpoint(what.outside);
  return checkpoint?.ok && checkpoint.value.origin === originOf(what.project) ? checkpoint.value : undefined;
}

/** Compares with a copy that another machine signed. A torn copy names a known key but has no valid signature. */
async function findLoss(
  { store, verifier }: RecognizeOptions,
  outside: Checkpoint,
  { position, keyring }: Extract<RecognizedLedger, { ok: true }>,
): Promise<RecognizedLedger | undefined> {
  const { size } = position.head;
  const isSigned = (await findSigningKey(verifier, outside.note, keyring.known)) !== undefined;
  // The entry that added the copy's key may be among the missing ones.
  const ids = keyring.known.map((key) => keyId(verifier.sha256, key));
  const isForeign = outside.note.signatures.every((line) => !ids.some((id) => sameBytes(id, line.keyId)));
  if (outside.size > size) return isSigned || isForeign ? entriesMissing(size, outside.size) : undefined;
  const found = isSigned ? await findPosition(store, verifier.sha256, outside.size) : undefined;
  return found && !sameBytes(found.frontier.root(), outside.root) ? forked(outside.size) : undefined;
}

/** The problem of a key that was never added, or was revoked. */
export function keyNotTrusted(): Problem {
  return ledgerProblem(
    'ledger/key-not-trusted',
    'the key of this machine is not trusted by this ledger',
    'Restore the signing key of this state folder. A new host of a fleet asks to join: baton host join',
  );
}

/** Walks the whole ledger, which is slow but finds every key ever added. */
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

/** Verifies the store's entries after a position, and yields them commit by commit. */
export async function followLedger(
  what: FollowedLedger,
  start: { readonly position: WalkPosition; readonly keyring: Keyring },
  adopt: (commits: VerifiedCommits, keyring: Keyring) => void | Promise<void>,
): Promise<FollowEnd> {
  const walk = new LedgerWalk(what.verifier, what.project, start.keyring.copy(), start.position);
  let { position } = start;
  const news = followStore(what.store, walk);
  for (let step = await news.next(); ; step = await news.next()) {
    if (step.done === true) {
      if (!start.keyring.isPartial || !isWrongSignature(step.value)) return step.value;
      break;
    }
    ({ position } = step.value);
    await adopt(step.value, walk.keyring.copy());
  }
  // Another machine signed it whose key was added before the ledger was opened: only earlier entries name the key.
  const keyring = await rebuildKeyring(what, position.head);
  if (!keyring) return ledgerFault(position.head.size, 'ledger/wrong-signature', NO_KEYS);
  return followLedger(what, { position, keyring }, adopt);
}

function isWrongSignature(end: FollowEnd): boolean {
  return typeof end === 'object' && end.problem.code === 'ledger/wrong-signature';
}

const NO_KEYS = 'the entries before the new ones do not prove which keys are trusted';

/** Rebuilds the trusted keys at a known position by walking all entries before it. */
async function rebuildKeyring(what: FollowedLedger, { size, hash }: Head): Promise<Keyring | undefined> {
  const walk = new LedgerWalk(what.verifier, what.project, new Keyring(what.verifier, what.project));
  for await (const batch of what.store.entries({ from: 1, to: size })) {
    for (const step of walk.steps(batch)) {
      if (!step.ok) return undefined;
      const { seq, note } = step.stored;
      if (note !== undefined && (await walk.findFault({ size: seq, note }, seq === size ? 'check' : 'trust')))
        return undefined;
    }
  }
  return sameBytes(walk.position.head.hash, hash) ? walk.keyring : undefined;
}
