import type { Problem } from '../../protocol/shape/problem.ts';
import { sameBytes, toHex } from '../format/bytes.ts';
import { type Checkpoint, parseCheckpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { type Entry, parseEntry } from '../format/entry.ts';
import { LEDGER_LIMITS, ledgerProblem } from '../format/limits.ts';
import type { Failure, Store } from '../store.ts';
import { Keyring } from '../verify/keyring.ts';
import { findPosition, type LedgerFault, ledgerFault, LedgerWalk } from '../verify/walk.ts';
import type { Ledger } from './ledger.ts';

const LEDGER_SEALED = 'LedgerSealed';

/** A seal states the tree of the first `size` entries and its signed checkpoint. */
export interface Seal {
  readonly seq: number;
  readonly at: string;
  readonly size: number;
  readonly root: string;
  readonly checkpoint: string;
}

export type SealResult = { readonly ok: true; readonly seal: Seal; readonly isNew: boolean } | Failure;

const IN_PROGRESS = ledgerProblem(
  'ledger/sealing',
  'Merkle finalization in progress. Retry in 5s.',
  'Another call is sealing this ledger.',
);
const NOTHING_TO_SEAL = ledgerProblem(
  'ledger/nothing-to-seal',
  'there is no signed checkpoint to seal',
  'Run: baton ledger verify',
);
const sealing = new WeakSet<Ledger>();

/** Seals everything so far. Returns the last seal if only seals and audits follow it. */
export async function sealLedger(ledger: Ledger, actor: string): Promise<SealResult> {
  if (sealing.has(ledger)) return { ok: false, problem: IN_PROGRESS };
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
  if (!parsed?.ok) return { ok: false, problem: NOTHING_TO_SEAL };
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
    // Another daemon recorded first, perhaps a seal that covers everything.
    return 'conflict' in recorded ? seal(ledger, actor) : recorded;
  }
  const entry = recorded.entries[0]?.entry;
  const made = entry && parseSeal(entry);
  if (!made) throw new Error('a seal that was recorded can be read');
  return { ok: true, seal: made, isNew: true };
}

/** The newest seal at or before an entry. Searches backwards, because seals are never far from the end. */
export async function findLastSeal(store: Store, before: number): Promise<Seal | undefined> {
  for (let to = before; to > 0; to -= LEDGER_LIMITS.entriesPerBatch) {
    let found: Seal | undefined;
    const from = Math.max(1, to - LEDGER_LIMITS.entriesPerBatch + 1);
    for await (const entry of entriesOfType(store, from, to, `"type":"${LEDGER_SEALED}"`))
      found = parseSeal(entry) ?? found;
    if (found) return found;
  }
  return undefined;
}

const decoder = new TextDecoder();

async function* entriesOfType(store: Store, from: number, to: number, mark: string): AsyncGenerator<Entry> {
  for await (const batch of store.entries({ from, to })) {
    for (const { bytes } of batch) {
      // Most entries are skipped without parsing.
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
  // A seal is recorded after the entries that it covers.
  if (size < 1 || size >= entry.seq) return undefined;
  return { seq: entry.seq, at: entry.at, size, root, checkpoint };
}

function noOutsideCopy(error: unknown): Problem {
  const what = error instanceof Error ? error.message : String(error);
  const hint = 'Free disk space, or check the owner of the file; then seal again.';
  return ledgerProblem('ledger/cannot-write', `the outside checkpoint cannot be written: ${what}`, hint);
}

/** Checks the entries from the last seal to this checkpoint; earlier ones were checked by that seal. */
async function findFaultSince(
  store: Store,
  verifier: Verifier,
  project: string,
  last: Seal | undefined,
  checkpoint: Checkpoint,
): Promise<LedgerFault | undefined> {
  const start = last && (await findPosition(store, verifier.sha256, last.size));
  if (last && (!start || toHex(start.frontier.root()) !== last.root)) return wrongTree(1, last.size);
  const walk = new LedgerWalk(verifier, project, new Keyring(verifier, project), start);
  const first = walk.position.head.size + 1;
  for await (const batch of store.entries({ from: first, to: checkpoint.size })) {
    for (const step of walk.steps(batch)) if (!step.ok) return step.finding;
  }
  const { head, frontier } = walk.position;
  const isSame = head.size === checkpoint.size && sameBytes(frontier.root(), checkpoint.root);
  return isSame ? undefined : wrongTree(first, checkpoint.size);
}

function wrongTree(seq: number, size: number): LedgerFault {
  return ledgerFault(seq, 'ledger/wrong-root', `the first ${size} entries differ from the signed tree`);
}
