import { existsSync } from 'node:fs';
import type { Problem } from '../../protocol/shape/problem.ts';
import { readKeyFile, openKeyFile } from './keys.ts';
import { ledgerProblem } from '../format/ledger-problem.ts';
import type { LedgerOptions } from './ledger.ts';
import type { LedgerPlace } from './ledger-files.ts';
import { nodeVerifier } from './node-crypto.ts';
import { originOf } from '../format/checkpoint.ts';
import type { NoteKey } from '../format/note.ts';
import { openLedger, type OpenedLedger } from './open-ledger.ts';
import { OutsideCopyFile } from './outside-file.ts';
import { LOCK_TIMES } from '../sqlite/lock-wait.ts';
import { openSqliteStoreWhenUnlocked, type OpenedSqliteStore } from '../sqlite/sqlite-store.ts';

/** Opens the ledger of a place for writing, with this machine's key; makes both where they are missing. */
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

/** Makes the database where there never was one; where one was lost, an empty one in its place would only hide that. */
export async function openWriterAt(place: LedgerPlace, lockTimes = LOCK_TIMES): Promise<OpenedSqliteStore> {
  const isGone = !existsSync(place.ledger) && existsSync(place.outside);
  if (isGone) return { ok: false, problem: databaseGone(place) };
  return openSqliteStoreWhenUnlocked(place.ledger, { mode: 'write', lockTimes });
}

/** Opens it for reading. Whoever only reads makes nothing: no file, no key. */
export async function openStoreAt(place: LedgerPlace): Promise<OpenedSqliteStore> {
  const opened = await openSqliteStoreWhenUnlocked(place.ledger, { mode: 'read' });
  if (opened.ok || opened.problem.code !== 'ledger/missing') return opened;
  if (existsSync(place.outside)) return { ok: false, problem: databaseGone(place) };
  const message = `nothing was ever recorded for the project ${place.project}`;
  const hint = 'Record something first, for example: baton task add T001 --title "First task"';
  return { ok: false, problem: ledgerProblem('ledger/missing', message, hint) };
}

/** The checkpoint beside it says that there was one. */
function databaseGone({ project, ledger, outside }: LedgerPlace): Problem {
  return ledgerProblem(
    'ledger/missing-database',
    `the database of the project ${project} is missing: ${ledger} is not there, and its checkpoint still is`,
    `Put the database back. Where it was removed on purpose, remove ${outside}, too.`,
  );
}

/** This machine's public key under the name that it has in this ledger; nothing where it was never made. */
export function findKnownKey(place: LedgerPlace): NoteKey | undefined {
  const key = readKeyFile(place.key);
  return key?.ok ? { name: originOf(place.project), publicKey: key.value.publicKey } : undefined;
}
