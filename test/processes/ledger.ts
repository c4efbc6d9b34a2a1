import { STATE_FOLD } from '../../src/daemon/loop/fold-state.ts';
import { parseKey } from '../../src/ledger/format/checkpoint.ts';
import { type Entry, parseEntry } from '../../src/ledger/format/entry.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import { refoldSnapshot } from '../../src/ledger/verify/verify-snapshots.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { ledgerPlace, OutsideCopyFile } from '../../src/ledger/writer/ledger-files.ts';
import { isPostgres } from '../stores/chosen.ts';
import { openChosenStore } from '../stores/open-store.ts';
import type { World } from './world.ts';

/** Reads every entry from the store itself, not from the daemon. */
export async function readLedger(world: Pick<World, 'ledgerFile' | 'project'>): Promise<Entry[]> {
  const store = await openChosenStore(world.ledgerFile, world.project);
  const entries: Entry[] = [];
  try {
    const { size } = await store.head();
    for await (const batch of store.entries({ from: 1, to: size })) {
      for (const { bytes, seq } of batch) {
        const entry = parseEntry(bytes);
        if (!entry.ok) throw new Error(`entry ${seq} cannot be read`);
        entries.push(entry.value);
      }
    }
    return entries.filter(({ type }) => !OF_A_FLEET.has(type));
  } finally {
    await store.close();
  }
}

/** The types of entries with which a project on PostgreSQL begins. Tests of both stores compare the later entries. */
const OF_A_FLEET: ReadonlySet<string> = new Set(['FleetFounded', 'HostJoined', 'CaretakerChanged', 'LevelRaised']);

/** Finds the first fault of the ledger, in words; undefined if all of it verifies. */
export async function findLedgerFault(world: World): Promise<string | undefined> {
  const { ledger, project, outside } = ledgerPlace(world.stateDir, world.project);
  const store = await openChosenStore(ledger, project);
  try {
    const kept = new OutsideCopyFile(outside).read();
    // On PostgreSQL the replica replaces the outside checkpoint.
    if (kept === undefined && !isPostgres) return 'there is no checkpoint outside of the ledger';
    const options = { project, verifier: nodeVerifier, allSignatures: true, outside: kept };
    const verified = await verifyLedger(store, options);
    if (!verified.ok) return `${verified.findings[0].seq}: ${verified.findings[0].problem.message}`;
    const parsed = verified.keys.map((key) => parseKey(nodeVerifier.sha256, key));
    const keys = parsed.flatMap((key) => (key.ok ? key.value : []));
    const folded = await refoldSnapshot(store, { project, verifier: nodeVerifier, keys }, STATE_FOLD);
    return folded.ok ? undefined : folded.finding.problem.message;
  } finally {
    await store.close();
  }
}

/** The entries that an operator or an agent has caused since. */
export async function since(world: World, before: readonly Entry[]): Promise<Entry[]> {
  return (await readLedger(world)).slice(before.length);
}

export function typesOf(entries: readonly Entry[]): string[] {
  return entries.map(({ type }) => type);
}

/** Entries of one type about one task. */
export function about(entries: readonly Entry[], taskId: string, type?: string): Entry[] {
  return entries.filter(({ data, type: its }) => data['task_id'] === taskId && (type === undefined || its === type));
}

/** A field as text, or as JSON if it is not a text. */
export function textOf(data: Entry['data'], field: string): string {
  const value = data[field];
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The pid of a process, from its identity in a field. */
export function pidOf(data: Entry['data'], field: 'supervisor' | 'process'): number {
  return Number(textOf(data, field).split('/')[1]);
}
