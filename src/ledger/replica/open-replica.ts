import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { Signer, Verifier } from '../format/crypto.ts';
import { openSqliteStoreWhenUnlocked } from '../sqlite/open.ts';
import type { SqliteStore } from '../sqlite/sqlite-store.ts';
import type { Failure } from '../store.ts';
import type { LedgerPlace } from '../writer/ledger-files.ts';
import { recognizeReplica } from './recognize-replica.ts';
import { saveMark } from './replica-mark.ts';

export type OpenedReplica =
  | {
      readonly ok: true;
      readonly store: SqliteStore;
      /** The file was damaged and set aside; the new replica is empty and will be filled from the shared store. */
      readonly setAside?: { readonly path: string; readonly problem: Problem };
    }
  | Failure;

export interface ReplicaKeys {
  readonly verifier: Verifier;
  readonly signer: Signer;
}

/**
 * Opens the replica of a shared ledger: the same file as a local ledger, but not synced. A killed process loses
 * nothing, because the system has the pages; a machine that loses power may lose any page. So the end of the file is
 * checked, and the whole file if the machine was restarted before the file was closed.
 */
export async function openReplica(place: LedgerPlace, trust: ReplicaKeys): Promise<OpenedReplica> {
  const opened = await open(place);
  const problem = opened.ok ? await findDamage(opened.store, place, trust, wasPowerLost(place)) : opened.problem;
  if (!opened.ok && problem?.code !== 'ledger/damaged') return opened;
  if (problem === undefined) {
    noteUnsynced(place);
    return opened;
  }
  if (opened.ok) await opened.store.close();
  const path = setAside(place);
  const fresh = await open(place);
  if (!fresh.ok) return fresh;
  noteUnsynced(place);
  return { ...fresh, setAside: { path, problem } };
}

async function open(place: LedgerPlace): Promise<OpenedReplica> {
  const opened = await openSqliteStoreWhenUnlocked(place.ledger, {
    mode: 'write',
    isUnsynced: true,
    lockTimes: LOCK_TIMES,
  });
  if (!opened.ok) return opened;
  const { store } = opened;
  const close = async (): Promise<void> => {
    await store.close();
    // Closing has synced the file, so the mark is removed.
    rmSync(unsyncedPath(place), { force: true });
  };
  return { ok: true, store: { ...store, close } };
}

/** SQLite may also throw on a damaged file. */
async function findDamage(
  store: SqliteStore,
  { project }: LedgerPlace,
  trust: ReplicaKeys,
  whole: boolean,
): Promise<Problem | undefined> {
  const { sha256 } = trust.verifier;
  try {
    const recognized = await recognizeReplica(store, { ...trust, project }, whole);
    if (!recognized.ok) return recognized.problem;
    const { position, keyring, marked } = recognized;
    // Moves the mark, so that opening the ledger does not verify the same entries again.
    if (position.head.size > marked.size) {
      const place = { head: position.head, root: position.frontier.root() };
      await saveMark(store, { ...trust, sha256, project }, place, keyring.trusted);
    }
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'ledger/damaged', message, path: '', line: null, column: null, hint: '' };
  }
}

function setAside({ ledger }: LedgerPlace): string {
  let path = `${ledger}.damaged`;
  for (let i = 2; existsSync(path); i += 1) path = `${ledger}.damaged-${i}`;
  for (const end of ['', '-wal', '-shm'])
    if (existsSync(`${ledger}${end}`)) renameSync(`${ledger}${end}`, `${path}${end}`);
  return path;
}

/** The file that holds the machine's boot id while the replica has unsynced changes. */
function unsyncedPath({ ledger }: LedgerPlace): string {
  return `${ledger}.unsynced`;
}

function noteUnsynced(place: LedgerPlace): void {
  writeFileSync(unsyncedPath(place), bootId(), { mode: 0o600 });
}

function wasPowerLost(place: LedgerPlace): boolean {
  const path = unsyncedPath(place);
  return existsSync(path) && readFileSync(path, 'utf8') !== bootId();
}

/** The boot id; empty on systems without one, whose replicas are only checked at their end. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Short, because a durable commit does not wait for a process that has locked the replica. */
const LOCK_TIMES = { waitMs: 500, knownMs: 20, noticeMs: 400 };
