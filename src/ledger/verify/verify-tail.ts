import { sameBytes } from '../format/bytes.ts';
import { type Checkpoint, findSigningKey, type NoteKey, originOf, parseCheckpoint } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import type { Entry } from '../format/entry.ts';
import { TileCheck } from '../format/tree.ts';
import type { Store } from '../store.ts';
import { Keyring } from './keyring.ts';
import { findUnsigned, findWrongTile } from './verify-ledger.ts';
import {
  findPosition,
  type LedgerFault,
  ledgerFault,
  LedgerWalk,
  type WalkPosition,
  walkToNewestCheckpoint,
} from './walk.ts';

export interface TailOptions {
  readonly project: string;
  readonly verifier: Verifier;
  /** The keys that may have signed the end. If empty, signatures are not checked. */
  readonly keys: readonly NoteKey[];
  /** The content of the checkpoint file outside the store; undefined if there is none. */
  readonly outside: string | undefined;
  /** The minimum number of newest entries to verify. */
  readonly entries: number;
  /** Called for each entry whose position in the chain was verified. */
  readonly onEntry?: (entry: Entry) => void;
}

export type VerifiedTail =
  | { readonly ok: true; readonly from: number; readonly size: number }
  | { readonly ok: false; readonly finding: LedgerFault };

/**
 * Verifies the newest entries in a time that does not depend on the size of the ledger: from an earlier checkpoint,
 * whose tree must match the stored tiles, to the newest one, its signature, and the outside checkpoint. Changes of
 * earlier entries are not found: only `verifyLedger` reads all entries.
 */
export async function verifyTail(store: Store, options: TailOptions): Promise<VerifiedTail> {
  const { project, verifier, keys, onEntry } = options;
  const { size } = await store.head();
  const start = await findStart(store, options, size);
  if (start !== undefined && 'finding' in start) return { ok: false, finding: start.finding };
  const keyring = new Keyring(verifier, project, start === undefined ? [] : keys);
  const walk = new LedgerWalk(verifier, project, keyring, start);
  const tiles = new TileCheck(store, start?.head.size ?? 0);
  const read = await walkToNewestCheckpoint(store, walk, async (entries, made) => {
    for (const entry of entries) onEntry?.(entry);
    await tiles.add(made);
  });
  const isUnchecked = keys.length === 0 && read?.problem.code === 'ledger/wrong-signature';
  const fault = (isUnchecked ? undefined : read) ?? (await findUnsigned(store));
  if (fault !== undefined) return { ok: false, finding: fault };
  await tiles.finish();
  const wrong = findWrongTile(tiles) ?? (await findOutsideFault(store, options, walk.position.head.size));
  return wrong === undefined ? { ok: true, from: (start?.head.size ?? 0) + 1, size } : { ok: false, finding: wrong };
}

/** Returns undefined if the tail is the whole ledger. */
async function findStart(
  store: Store,
  { verifier, entries }: TailOptions,
  size: number,
): Promise<WalkPosition | { readonly finding: LedgerFault } | undefined> {
  const stored = size <= entries ? undefined : await store.findCheckpoint(size - entries);
  const checkpoint = stored === undefined ? undefined : parseCheckpoint(stored.note);
  if (stored === undefined || checkpoint === undefined) return undefined;
  const position = checkpoint.ok ? await findPosition(store, verifier.sha256, stored.size) : undefined;
  if (checkpoint.ok && position && sameBytes(position.frontier.root(), checkpoint.value.root)) return position;
  const message = `the checkpoint of ${stored.size} entries states a different tree`;
  return { finding: ledgerFault(stored.size, 'ledger/wrong-root', message) };
}

async function findOutsideFault(store: Store, options: TailOptions, size: number): Promise<LedgerFault | undefined> {
  const outside = await readSigned(options);
  if (outside === undefined) return undefined;
  if (outside.size > size) {
    const message = `entries ${size + 1} to ${outside.size} are missing from the end`;
    return ledgerFault(size + 1, 'ledger/rolled-back', message);
  }
  const position = await findPosition(store, options.verifier.sha256, outside.size);
  if (position && sameBytes(position.frontier.root(), outside.root)) return undefined;
  const message = `the first ${outside.size} entries differ from those of the outside checkpoint: history was rewritten`;
  return ledgerFault(outside.size, 'ledger/forked', message);
}

/** A torn copy has no valid signature, and counts as missing. */
async function readSigned({ verifier, keys, outside, project }: TailOptions): Promise<Checkpoint | undefined> {
  const parsed = outside === undefined ? undefined : parseCheckpoint(outside);
  if (parsed?.ok !== true || parsed.value.origin !== originOf(project)) return undefined;
  return (await findSigningKey(verifier, parsed.value.note, keys)) === undefined ? undefined : parsed.value;
}
