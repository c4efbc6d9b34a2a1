import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { STATE_FOLD, UnknownTypes } from '../../../daemon/loop/fold-state.ts';
import { readStoredView, type StoredView } from '../../../daemon/views/stored-view.ts';
import { type NoteKey, parseKey } from '../../../ledger/format/checkpoint.ts';
import { parseEntry } from '../../../ledger/format/entry.ts';
import { findMark, isReplica } from '../../../ledger/replica/replica-mark.ts';
import type { SnapshotTrust } from '../../../ledger/snapshots-and-blobs.ts';
import { readState } from '../../../ledger/state-parts.ts';
import { openSqliteStoreWhenUnlocked } from '../../../ledger/sqlite/open.ts';
import type { Store } from '../../../ledger/store.ts';
import { verifyLedger } from '../../../ledger/verify/verify-ledger.ts';
import { refoldSnapshot } from '../../../ledger/verify/verify-snapshots.ts';
import { verifyTail } from '../../../ledger/verify/verify-tail.ts';
import { nodeVerifier, readKeyFile } from '../../../ledger/writer/keys.ts';
import type { LedgerPlace } from '../../../ledger/writer/ledger-files.ts';
import { findKnownKey, openStoreAt } from '../../../ledger/writer/open.ts';
import { describeError } from '../../problems.ts';
import type { ChainFacts, FoundProblem, LedgerFacts, SnapshotFacts } from '../checks/ledger-facts.ts';
import { canWrite } from './state-folder.ts';

export interface ReadLedger {
  readonly facts: LedgerFacts;
  /** Undefined if the ledger cannot be read, or if too many entries follow its snapshot. */
  readonly view: StoredView | undefined;
}

/** Opens the ledger for reading, and leaves no file behind. */
export async function readLedger(place: LedgerPlace): Promise<ReadLedger> {
  try {
    return await readQuietly(place);
  } catch (error) {
    const problem = {
      message: `the ledger cannot be reached: ${describeError(error)}`,
      hint: 'Check the owner and the permissions of the file and its folder.',
    };
    const facts = { path: place.ledger, bytes: null, isWritable: true, key: null, isNew: false, problem, inside: null };
    return { facts, view: undefined };
  }
}

async function readQuietly(place: LedgerPlace): Promise<ReadLedger> {
  const atRest = isAtRest(place);
  const read = await readLedgerOnce(place, atRest);
  // A daemon has started in the meantime, so apparent damage may be half of a commit.
  return atRest && !isAtRest(place) ? readLedgerOnce(place, false) : read;
}

function isAtRest({ ledger }: LedgerPlace): boolean {
  return existsSync(ledger) && (sizeOf(`${ledger}-wal`) ?? 0) === 0;
}

async function readLedgerOnce(place: LedgerPlace, atRest: boolean): Promise<ReadLedger> {
  const bytes = sizeOf(place.ledger);
  const files = {
    path: place.ledger,
    bytes: bytes === undefined ? null : bytes + (sizeOf(`${place.ledger}-wal`) ?? 0),
    isWritable: bytes === undefined || (canWrite(place.ledger) && canWrite(dirname(place.ledger))),
    key: keyProblemOf(place),
  };
  const opened = atRest
    ? await openSqliteStoreWhenUnlocked(place.ledger, { mode: 'read', isAtRest: true })
    : await openStoreAt(place);
  if (!opened.ok) {
    const isNew = opened.problem.code === 'ledger/missing';
    return { facts: { ...files, isNew, problem: isNew ? null : opened.problem, inside: null }, view: undefined };
  }
  try {
    const inside = await readInside(opened.store, place, bytes ?? 0);
    return { facts: { ...files, isNew: false, problem: null, inside: inside.facts }, view: inside.view };
  } catch (error) {
    const problem = { message: `${place.ledger} cannot be read: ${messageOf(error)}`, hint: UNREADABLE_HINT };
    return { facts: { ...files, isNew: false, problem, inside: null }, view: undefined };
  } finally {
    await opened.store.close();
  }
}

const UNREADABLE_HINT =
  'See: baton ledger verify. Restore the ledger from a backup, and write nothing to it before that.';

/** A key that other users can read is reported with the state folder. */
function keyProblemOf({ key, ledger }: LedgerPlace): FoundProblem | null {
  if (((statSync(key, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0) return null;
  const read = readKeyFile(key);
  if (read !== undefined) return read.ok ? null : read.problems[0];
  if (!existsSync(ledger)) return null;
  const hint = 'Restore the key from a backup; a new key is not trusted.';
  return { message: `the signing key ${key} is missing, and the ledger has entries`, hint };
}

async function readInside(
  store: Store,
  place: LedgerPlace,
  bytes: number,
): Promise<{ readonly facts: NonNullable<LedgerFacts['inside']>; readonly view: StoredView | undefined }> {
  const { size } = await store.head();
  const isShared = await isReplica(store);
  const isSmall = size <= WHOLE_ENTRIES && bytes <= WHOLE_BYTES;
  const unknown = new UnknownTypes();
  const { chain, keys } = await readChain(store, place, { isSmall, isShared, unknown });
  // Finds a damaged page or a changed schema.
  const faults = isSmall ? await store.inspect().catch((error: unknown) => [messageOf(error)]) : null;
  const trust = { project: place.project, verifier: nodeVerifier, keys };
  const snapshot = await readSnapshot(store, trust, isSmall && chain.findings.length === 0);
  const view = chain.findings.length === 0 ? await viewOf(store, trust) : undefined;
  const facts = {
    entries: size,
    isReplica: isShared,
    faults,
    chain,
    snapshot,
    newestAt: await readNewestTime(store, size),
    level: view?.level ?? null,
    unknown: view?.unknown === undefined ? unknown.warnings : [describeUnknown(view.unknown)],
  };
  return { facts, view };
}

function describeUnknown({ type, seq }: { readonly type: string; readonly seq: number }): string {
  return `entry ${seq} has the type ${type}, which this version does not know`;
}

async function viewOf(store: Store, trust: Parameters<typeof readStoredView>[1]): Promise<StoredView | undefined> {
  // An entry that does not fit its type is reported when the snapshot is folded again.
  return readStoredView(store, trust, MOST_FOLDED).catch(() => undefined);
}

interface ChainQuestion {
  readonly isSmall: boolean;
  readonly isShared: boolean;
  readonly unknown: UnknownTypes;
}

async function readChain(
  store: Store,
  place: LedgerPlace,
  { isSmall, isShared, unknown }: ChainQuestion,
): Promise<{ readonly chain: ChainFacts; readonly keys: readonly NoteKey[] }> {
  const { project } = place;
  const known = findKnownKey(place);
  const outside = isShared ? undefined : readOutside(place);
  const hasOutside = isShared || outside !== null;
  if (isSmall) {
    const whole = await verifyLedger(store, {
      project,
      verifier: nodeVerifier,
      outside,
      knownKey: known,
      onEntry: (entry) => unknown.read(entry),
    });
    const trusted = whole.ok ? whole.keys.map((text) => parseKey(nodeVerifier.sha256, text)) : [];
    const own = known === undefined ? [] : [known];
    const findings = whole.ok ? [] : whole.findings.filter(({ problem }) => !REPORTED_APART.has(problem.code));
    return {
      chain: {
        kind: 'whole',
        from: 1,
        findings: findings.map(({ seq, problem }) => ({ ...problem, seq })),
        warnings: whole.ok ? whole.warnings : [],
        hasOutside,
      },
      keys: whole.ok ? trusted.flatMap((key) => (key.ok ? key.value : [])) : own,
    };
  }
  const keys = await findKeys(store, place, known);
  const tail = await verifyTail(store, {
    project,
    verifier: nodeVerifier,
    keys,
    outside: outside ?? undefined,
    entries: TAIL_ENTRIES,
    onEntry: (entry) => unknown.read(entry),
  });
  const findings = tail.ok ? [] : [{ ...tail.finding.problem, seq: tail.finding.seq }];
  const warnings = outside === null ? [NO_OUTSIDE] : [];
  return { chain: { kind: 'tail', from: tail.ok ? tail.from : 1, findings, warnings, hasOutside }, keys };
}

/** Problems of the file and its snapshot, which are reported separately from the chain. */
const REPORTED_APART: ReadonlySet<string> = new Set([
  'ledger/store',
  'ledger/wrong-snapshot',
  'ledger/forged-snapshot',
]);
const NO_OUTSIDE = 'there is no outside checkpoint, so missing entries at the end would not be noticed';

/** A replica records the keys of all hosts. A local ledger is signed by the key of this machine. */
async function findKeys(store: Store, place: LedgerPlace, known: NoteKey | undefined): Promise<readonly NoteKey[]> {
  if (known === undefined) return [];
  const { project } = place;
  const mark = await findMark(store, { project, verifier: nodeVerifier, publicKey: known.publicKey });
  return mark?.keys ?? [known];
}

/** Null if there is none; empty if it cannot be read. */
function readOutside({ outside }: LedgerPlace): string | null {
  try {
    return readFileSync(outside, 'utf8');
  } catch {
    return existsSync(outside) ? '' : null;
  }
}

async function readSnapshot(store: Store, trust: SnapshotTrust, mayFold: boolean): Promise<SnapshotFacts> {
  const found = await readState(store, trust, () => undefined);
  if (found === undefined || (found.ok && found.name !== STATE_FOLD.name)) return { kind: 'none' };
  if (!found.ok) return { kind: 'fault', fault: found.fault };
  const { size } = found.head;
  if (!mayFold) return { kind: 'unfolded', size };
  const folded = await refoldSnapshot(store, trust, STATE_FOLD);
  if (folded.ok && folded.entries !== size) return { kind: 'unfolded', size };
  return folded.ok ? { kind: 'matches', size } : { kind: 'differs', ...folded.finding.problem };
}

async function readNewestTime(store: Store, size: number): Promise<string | null> {
  for await (const [newest] of store.entries({ from: size, to: size })) {
    const entry = newest === undefined ? undefined : parseEntry(newest.bytes);
    return entry?.ok === true ? entry.value.at : null;
  }
  return null;
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A ledger up to this size is verified completely. */
const WHOLE_ENTRIES = 20_000;
const WHOLE_BYTES = 64 * 1024 * 1024;
const TAIL_ENTRIES = 2000;
const MOST_FOLDED = 50_000;
