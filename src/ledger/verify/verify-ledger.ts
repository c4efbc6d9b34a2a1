import { sameBytes } from '../format/bytes.ts';
import { type Checkpoint, findSigningKey, type NoteKey, parseCheckpoint, renderKey } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';

import type { Entry } from '../format/entry.ts';
import { TileCheck } from '../format/tree.ts';
import { blobName, blobsNamedIn } from '../snapshots-and-blobs.ts';
import { REPLICA_MARK } from '../replica/replica-mark.ts';
import { isStoreUnavailable, type Store } from '../store.ts';
import { Keyring } from './keyring.ts';
import { findSnapshotAndBlobFaults } from './verify-snapshots.ts';
import { type LedgerFault, ledgerFault, LedgerWalk } from './walk.ts';

export interface VerifyOptions {
  readonly project: string;
  readonly verifier: Verifier;
  /** Checks every signature; by default only the newest, which covers all entries before it. */
  readonly allSignatures?: boolean;
  /** The content of the checkpoint file outside the store; null if it is missing. */
  readonly outside?: string | null | undefined;
  readonly knownKey?: NoteKey | undefined;
  readonly onProgress?: (entries: number) => void;
  /** Called for each entry whose position in the chain was verified. */
  readonly onEntry?: (entry: Entry) => void;
}

export interface Verified {
  readonly ok: true;
  readonly size: number;
  readonly root: Uint8Array;
  readonly checkpoint: string | undefined;
  readonly keys: readonly string[];
  readonly warnings: readonly string[];
}

export interface NotVerified {
  readonly ok: false;
  readonly findings: readonly [LedgerFault, ...LedgerFault[]];
}

/** Verifies chain, hashes, tree, signatures, tiles, blobs, snapshots, the store and the outside checkpoint. */
export async function verifyLedger(store: Store, options: VerifyOptions): Promise<Verified | NotVerified> {
  const { verifier, project } = options;
  const keyring = new Keyring(verifier, project);
  const walk = new LedgerWalk(verifier, project, keyring);
  const outside = readOutside(options.outside ?? undefined);
  let missingBlobs = 0;
  // A store that cannot be read is reported below.
  const names = await store.snapshotNames().catch((): readonly string[] => []);
  const isReplica = names.includes(REPLICA_MARK);
  // A replica has only the blobs that its host has stored or read; the shared store has all of them.
  const onMissingBlob = isReplica ? (): void => void (missingBlobs += 1) : undefined;
  const fault = await readable(walk, async () => [
    await findFirstFault(store, walk, outside, { ...options, onMissingBlob }),
  ]);
  if (outside && isAboutOutside(fault[0]) && !(await isSigned(verifier, keyring, outside, options))) {
    // A copy without a signature by a trusted key is torn and must not count as evidence.
    return verifyLedger(store, { ...options, outside: '' });
  }
  const trust = { project, verifier, keys: keyring.trusted };
  const kept = fault[0] ? [] : await readable(walk, async () => [await findSnapshotAndBlobFaults(store, trust)]);
  const ofKept = kept.flatMap((each) => ('findings' in each ? each.findings : [each]));
  const findings = [...fault, ...ofKept, ...keyFaults(keyring, options)];
  const [first, ...rest] = findings.filter((finding) => finding !== undefined);
  if (first) return { ok: false, findings: [first, ...rest] };
  return {
    ok: true,
    size: walk.position.head.size,
    root: walk.position.frontier.root(),
    checkpoint: (await store.findCheckpoint())?.note,
    keys: keyring.trusted.map((key) => renderKey(verifier.sha256, key)),
    warnings: [
      ...(missingBlobs > 0 ? [`${missingBlobs} blobs are only in the shared store, and were not checked`] : []),
      ...kept.flatMap((each) => ('warnings' in each ? each.warnings : [])),
      // The shared store serves as the outside copy of a replica.
      ...(isReplica ? [] : await outsideWarnings(verifier, keyring, outside, options)),
    ],
  };
}

function readOutside(note: string | undefined): Checkpoint | undefined {
  const checkpoint = note === undefined ? undefined : parseCheckpoint(note);
  return checkpoint?.ok ? checkpoint.value : undefined;
}

async function outsideWarnings(
  verifier: Verifier,
  keyring: Keyring,
  outside: Checkpoint | undefined,
  options: VerifyOptions,
): Promise<readonly string[]> {
  if (options.outside === undefined) return [];
  if (options.outside === null)
    return ['there is no outside checkpoint, so missing entries at the end would not be noticed'];
  return (await isSigned(verifier, keyring, outside, options))
    ? []
    : ['the outside checkpoint cannot be read, so missing entries at the end would not be noticed'];
}

function isAboutOutside(finding: LedgerFault | undefined): boolean {
  return finding?.problem.code === 'ledger/forked' || finding?.problem.code === 'ledger/rolled-back';
}

async function isSigned(
  verifier: Verifier,
  keyring: Keyring,
  outside: Checkpoint | undefined,
  { knownKey }: VerifyOptions,
): Promise<boolean> {
  if (!outside) return false;
  const keys = knownKey ? [...keyring.trusted, knownKey] : keyring.trusted;
  // Without a key there is no entry either, and the copy itself proves that an entry existed.
  if (keys.length === 0) return true;
  return (await findSigningKey(verifier, outside.note, keys)) !== undefined;
}

const UNKNOWN_KEY_HINT =
  'If key.pem of the state folder was lost or replaced, restore it from a backup. If not, ask where the ledger comes from.';

function keyFaults(keyring: Keyring, { knownKey }: VerifyOptions): readonly LedgerFault[] {
  if (!knownKey || keyring.trusted.length === 0 || keyring.trusts(knownKey)) return [];
  const message = 'the ledger is intact, but it is signed by unknown keys';
  return [ledgerFault(1, 'ledger/unknown-key', message, UNKNOWN_KEY_HINT)];
}

/** A store that cannot be read (a damaged page) is a fault, located after the last good entry. */
async function readable<T>(walk: LedgerWalk, read: () => Promise<T[]>): Promise<(T | LedgerFault)[]> {
  try {
    return await read();
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    const what = error instanceof Error ? error.message : String(error);
    return [ledgerFault(walk.position.head.size + 1, 'ledger/unreadable', `the store cannot be read: ${what}`)];
  }
}

interface FaultOptions extends Pick<VerifyOptions, 'allSignatures' | 'onProgress' | 'onEntry'> {
  /** If set, a missing blob is not a fault. */
  readonly onMissingBlob?: (() => void) | undefined;
}

/** Walks to the newest checkpoint in bounded memory. Entries that a running writer adds meanwhile are not checked. */
export async function findFirstFault(
  store: Store,
  walk: LedgerWalk,
  outside: Checkpoint | undefined,
  { allSignatures = false, onProgress, onEntry, onMissingBlob }: FaultOptions,
): Promise<LedgerFault | undefined> {
  const tiles = new TileCheck(store, 0);
  const end = (await store.findCheckpoint())?.size ?? 0;
  // Starts far below 1, to find a row inserted before the first entry.
  for await (const batch of store.entries({ from: Number.MIN_SAFE_INTEGER, to: end })) {
    for (const step of walk.steps(batch)) {
      if (!step.ok) return step.finding;
      const { stored } = step;
      onEntry?.(step.entry);
      if (step.tiles.length > 0) await tiles.add(step.tiles);
      if (stored.note !== undefined) {
        const checkpoint = { size: stored.seq, note: stored.note };
        const fault = await walk.findFault(checkpoint, allSignatures || stored.seq === end ? 'check' : 'trust');
        if (fault) return fault;
      }
      if (stored.seq === outside?.size && !sameBytes(walk.position.frontier.root(), outside.root))
        return forked(outside);
      // Few entries name a blob; the others cost only a search in their text.
      if (!step.text.includes('blob":"sha256:')) continue;
      for (const hash of blobsNamedIn(step.entry.data)) {
        if (await store.findBlob(hash)) continue;
        if (!onMissingBlob) return missingBlob(stored.seq, hash);
        onMissingBlob();
      }
    }
    onProgress?.(walk.position.head.size);
  }
  await tiles.finish();
  return (await findUnsigned(store)) ?? findGapAtEnd(walk, outside) ?? findWrongTile(tiles);
}

function findGapAtEnd(walk: LedgerWalk, outside: Checkpoint | undefined): LedgerFault | undefined {
  const { size } = walk.position.head;
  const beyond = outside?.size ?? 0;
  if (beyond <= size) return undefined;
  return ledgerFault(size + 1, 'ledger/rolled-back', `entries ${size + 1} to ${beyond} are missing from the end`);
}

/** Reads the head first: a commit in between only makes the checkpoint cover more. */
export async function findUnsigned(store: Store): Promise<LedgerFault | undefined> {
  const { size } = await store.head();
  const signed = (await store.findCheckpoint())?.size ?? 0;
  if (size <= signed) return undefined;
  return ledgerFault(
    signed + 1,
    'ledger/unsigned',
    `entries ${signed + 1} to ${size} are covered by no signed checkpoint`,
  );
}

export function findWrongTile({ wrong }: TileCheck): LedgerFault | undefined {
  if (!wrong) return undefined;
  const seq = wrong.index * 2 ** wrong.level + 1;
  return ledgerFault(
    seq,
    'ledger/wrong-tile',
    `tile ${wrong.index} at level ${wrong.level} is not the hash of its entries`,
  );
}

function forked({ size }: Checkpoint): LedgerFault {
  const message = `the first ${size} entries differ from those of the outside checkpoint: history was rewritten`;
  return ledgerFault(size, 'ledger/forked', message);
}

function missingBlob(seq: number, hash: Uint8Array): LedgerFault {
  return ledgerFault(seq, 'ledger/missing-blob', `entry ${seq} names the blob ${blobName(hash)}, which is missing`);
}
