import { existsSync } from 'node:fs';
import type { Problem } from '../../protocol/shape/problem.ts';
import { type NoteKey, originOf } from '../format/checkpoint.ts';
import { ledgerProblem } from '../format/limits.ts';
import { recognizeWithReplica } from '../replica/recognize-shared.ts';
import { isReplica } from '../replica/replica-mark.ts';
import type { ReplicaWriter } from '../replica/replica-writer.ts';
import { LOCK_TIMES } from '../sqlite/lock-wait.ts';
import { type OpenedSqliteStore, openSqliteStoreWhenUnlocked } from '../sqlite/open.ts';
import { type Failure, storeProblemOf } from '../store.ts';
import { createKeyAddedDraft } from '../verify/keyring.ts';
import { nodeVerifier, openKeyFile, readKeyFile } from './keys.ts';
import { type LedgerPlace, OutsideCopyFile } from './ledger-files.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';
import { recognizeLedger, type RecognizedLedger, type RecognizeOptions } from './recognize.ts';

/** Opens a ledger for writing with this machine's key; creates both if they are missing. */
export async function openLedgerAt(
  place: LedgerPlace,
  options: Pick<LedgerOptions, 'clock' | 'secrets' | 'onEntries'>,
): Promise<OpenedLedger> {
  const key = openKeyFile(place.key);
  if (!key.ok) return { ok: false, problem: key.problems[0] };
  const opened = await openWriterAt(place);
  if (!opened.ok) return opened;
  const { store } = opened;
  const outside = new OutsideCopyFile(place.outside);
  const { project } = place;
  const ledger = await openLedger({ ...options, store, project, outside, signer: key.value, verifier: nodeVerifier });
  if (!ledger.ok) await store.close();
  return ledger;
}

/** Creates a database only if there never was one: an empty database in place of a lost one would hide the loss. */
export async function openWriterAt(place: LedgerPlace, lockTimes = LOCK_TIMES): Promise<OpenedSqliteStore> {
  const isGone = !existsSync(place.ledger) && existsSync(place.outside);
  if (isGone) return { ok: false, problem: databaseGone(place) };
  return openSqliteStoreWhenUnlocked(place.ledger, { mode: 'write', lockTimes });
}

export async function openStoreAt(place: LedgerPlace): Promise<OpenedSqliteStore> {
  const opened = await openSqliteStoreWhenUnlocked(place.ledger, { mode: 'read' });
  if (opened.ok || opened.problem.code !== 'ledger/missing') return opened;
  if (existsSync(place.outside)) return { ok: false, problem: databaseGone(place) };
  const message = `no entry was recorded for the project ${place.project}`;
  const hint = 'Record something first, for example: baton task add T001 --title "First task"';
  return { ok: false, problem: ledgerProblem('ledger/missing', message, hint) };
}

function databaseGone({ project, ledger, outside }: LedgerPlace): Problem {
  return ledgerProblem(
    'ledger/missing-database',
    `the database of the project ${project} is missing: ${ledger} does not exist, but its checkpoint does`,
    `Restore the database. If it was removed on purpose, remove ${outside}, too.`,
  );
}

/** This machine's public key under its name in this ledger; undefined if the key was never created. */
export function findKnownKey(place: LedgerPlace): NoteKey | undefined {
  const key = readKeyFile(place.key);
  return key?.ok ? { name: originOf(place.project), publicKey: key.value.publicKey } : undefined;
}

export type OpenedLedger = { readonly ok: true; readonly ledger: Ledger } | Failure;

/**
 * Opens for writing if the ledger is intact and the same as before. A new ledger starts with the entry of the machine's
 * key.
 */
export async function openLedger(options: LedgerOptions): Promise<OpenedLedger> {
  const { store, project, verifier, signer, outside } = options;
  const found = { store, project, verifier, signer, outside: outside.read() };
  const recognized = await recognize(found).catch(storeProblemOf);
  if (!recognized.ok) return recognized;
  const ledger = new Ledger(options, recognized.position, recognized.keyring, recognized.replica);
  if (ledger.head.size > 0) return { ok: true, ledger };
  const first = await ledger.append([createKeyAddedDraft(verifier.sha256, project, signer, 'system:ledger')]);
  if (first.ok) return { ok: true, ledger };
  // Another machine has started the ledger in the meantime with its own key.
  return 'conflict' in first ? openLedger(options) : first;
}

async function recognize(
  found: RecognizeOptions & Pick<LedgerOptions, 'signer'>,
): Promise<RecognizedLedger & { readonly replica?: ReplicaWriter }> {
  if (found.store.parts) return recognizeWithReplica(found, found.store.parts);
  if (found.store.kind === 'sqlite' && (await isReplica(found.store))) return { ok: false, problem: REPLICA };
  return recognizeLedger(found);
}

const REPLICA = ledgerProblem(
  'ledger/replica',
  'this file is the replica of a shared ledger: only the daemon of this machine writes to it',
  'Start the daemon, which uses the shared store: baton up',
);
