import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes, toHex } from '../format/bytes.ts';
import { GENESIS } from '../format/chain.ts';
import { type Checkpoint, parseCheckpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { type Entry, parseEntry } from '../format/entry.ts';
import { DO_NOT_WRITE, LEDGER_LIMITS, ledgerProblem } from '../format/limits.ts';
import { Frontier } from '../format/merkle.ts';
import { Tree } from '../format/tree.ts';
import type { Store } from '../store.ts';
import { Keyring } from '../verify/keyring.ts';
import { type LedgerFault, LedgerWalk, type WalkPosition } from '../verify/walk.ts';
import type { Ledger } from './ledger.ts';

export const LEDGER_SEALED = 'LedgerSealed';

/** What a seal states: the tree of the first `size` entries, and the signed checkpoint that says so. */
export interface Seal {
  /** The entry that records it. */
  readonly seq: number;
  readonly at: string;
  readonly size: number;
  /** In hex. */
  readonly root: string;
  readonly checkpoint: string;
}

export type SealResult =
  | { readonly ok: true; readonly seal: Seal; readonly isNew: boolean }
  | { readonly ok: false; readonly problem: Problem };

/** Ledgers that are being sealed by this process right now. */
const sealing = new WeakSet<Ledger>();

/**
 * Records a seal over everything so far, after what came since the last one was checked, and the outside copy is on the
 * disk. Where nothing but seals and audits came since then, that one is the answer.
 */
export async function sealLedger(ledger: Ledger, actor: string): Promise<SealResult> {
  if (sealing.has(ledger)) return { ok: false, problem: inProgress() };
  sealing.add(ledger);
  try {
    return await seal(ledger, actor);
  } finally {
    sealing.delete(ledger);
  }
}

async function seal(ledger: Ledger, actor: string): Promise<SealResult> {
  const { size } = ledger.head;
  const last = await findLastSeal(ledger.store, size);
  if (last && !(await hasNews(ledger.store, last.size + 1, size))) {
    return { ok: true, seal: last, isNew: false };
  }
  const checkpoint = await ledger.store.findCheckpoint(size);
  const parsed = checkpoint && parseCheckpoint(checkpoint.note);
  if (!parsed?.ok) return { ok: false, problem: nothingToSeal() };
  const fault = await findFaultSince(ledger.store, ledger.verifier, ledger.project, last, parsed.value);
  if (fault) return { ok: false, problem: fault.problem };
  try {
    ledger.syncOutside();
  } catch (error) {
    return { ok: false, problem: noOutsideCopy(error) };
  }
  const data = { size, root: toHex(parsed.value.root), checkpoint: checkpoint?.note ?? '' };
  const recorded = await ledger.append([{ actor, type: LEDGER_SEALED, data }]);
  if (!recorded.ok) {
    // Another daemon was first; perhaps with a seal that says all there is to say.
    return 'conflict' in recorded ? seal(ledger, actor) : recorded;
  }
  const entry = recorded.entries[0]?.entry;
  const made = entry && parseSeal(entry);
  if (!made) throw new Error('a seal that was recorded can be read');
  return { ok: true, seal: made, isNew: true };
}

/** The newest seal at or before an entry, searched from there backwards: seals are never far from the end. */
export async function findLastSeal(store: Store, before: number): Promise<Seal | undefined> {
  for (let to = before; to > 0; to -= LEDGER_LIMITS.entriesPerBatch) {
    let found: Seal | undefined;
    for await (const entry of entriesOfType(
      store,
      Math.max(1, to - LEDGER_LIMITS.entriesPerBatch + 1),
      to,
      SEAL_MARK,
    )) {
      found = parseSeal(entry) ?? found;
    }
    if (found) return found;
  }
  return undefined;
}

const SEAL_MARK = `"type":"${LEDGER_SEALED}"`;
const decoder = new TextDecoder();

async function* entriesOfType(store: Store, from: number, to: number, mark: string): AsyncGenerator<Entry> {
  for await (const batch of store.entries({ from, to })) {
    for (const { bytes } of batch) {
      // Most entries are passed by without being parsed.
      if (!decoder.decode(bytes).includes(mark)) continue;
      const entry = parseEntry(bytes);
      if (entry.ok) yield entry.value;
    }
  }
}

async function hasNews(store: Store, from: number, to: number): Promise<boolean> {
  for await (const entry of entriesOfType(store, from, to, '"type":"')) {
    if (entry.type !== LEDGER_SEALED && !entry.type.startsWith('Audit')) return true;
  }
  return false;
}

function parseSeal(entry: Entry): Seal | undefined {
  const { size, root, checkpoint } = entry.data;
  if (entry.type !== LEDGER_SEALED || typeof size !== 'number') return undefined;
  if (typeof root !== 'string' || typeof checkpoint !== 'string') return undefined;
  // A seal is an entry after those that it covers.
  if (size < 1 || size >= entry.seq) return undefined;
  return { seq: entry.seq, at: entry.at, size, root, checkpoint };
}

function inProgress(): Problem {
  return ledgerProblem(
    'ledger/sealing',
    'Merkle finalization in progress. Retry in 5s.',
    'Another call is sealing this ledger.',
  );
}

function noOutsideCopy(error: unknown): Problem {
  const what = error instanceof Error ? error.message : String(error);
  const hint = 'Make room on the disk, or check who owns the file; then seal again.';
  return ledgerProblem('ledger/cannot-write', `the outside checkpoint cannot be written: ${what}`, hint);
}

function nothingToSeal(): Problem {
  return ledgerProblem('ledger/nothing-to-seal', 'there is no signed checkpoint to seal', 'Run: baton ledger verify');
}

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
