import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { toStateJson } from '../../src/state/json-form.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { exportLedger } from '../../src/ledger/verify/export.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { openTestLedger, record } from '../../src/ledger/writer/ledger.cases.ts';
import { sealLedger } from '../../src/ledger/writer/seal.ts';
import { emptyState, foldEntry } from '../../src/state/state.ts';
import type { Transcript } from './transcript.ts';

type Recorded = Pick<Entry, 'seq' | 'at' | 'actor' | 'type' | 'data'>;

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** The states to which ledgers with every type of entry fold, as JSON with sorted keys. */
export function foldedStates(): Transcript[] {
  return allLedgers().map(([id, entries]) => ({ id: `state of ${id}`, machine: foldedState(entries) }));
}

export function foldedState(entries: readonly Recorded[]): string {
  const state = emptyState();
  for (const entry of entries) foldEntry(state, { v: 1, project: 'p', prev: '', cause: null, ...entry });
  return sortedJson(JSON.parse(JSON.stringify(toStateJson(state))));
}

/**
 * The same entries written again with a fixed key and clock: hashes, signatures and the export must be the same too.
 */
export async function writtenLedger(): Promise<Transcript> {
  const ledger = await openTestLedger({ project: 'recorded' });
  for (const [, entries] of allLedgers()) {
    const drafts = entries.map(({ actor, type, data }) => ({ actor, type, data }));
    await record(
      ledger,
      drafts.filter(({ type }) => type !== 'KeyAdded' && type !== 'LedgerSealed'),
    );
  }
  const sealed = await sealLedger(ledger, 'operator:ada');
  if (!sealed.ok) throw new Error(sealed.problem.message);
  let lines = '';
  for await (const part of exportLedger(ledger.store, nodeVerifier, 'recorded')) lines += part;
  await ledger.close();
  return { id: 'export of a written ledger', machine: lines };
}

/**
 * `entries.ndjson.gz` contains ledgers that the tests of state and engine made; earlier versions recorded the other
 * two.
 */
function allLedgers(): (readonly [string, readonly Recorded[]])[] {
  const made = parseLines<readonly Recorded[]>(gunzipSync(readFileSync(join(FIXTURES, 'recorded/entries.ndjson.gz'))));
  const old = ['before-gates', 'before-typed-causes'].flatMap((name) =>
    parseLines<{ readonly name: string; readonly entries: readonly Recorded[] }>(
      readFileSync(join(FIXTURES, `ledger/${name}.ndjson`)),
    ).map(({ name: its, entries }) => [`${name}: ${its}`, entries] as const),
  );
  return [...made.map((entries, i) => [`ledger ${i + 1}`, entries] as const), ...old];
}

function parseLines<T>(bytes: Uint8Array): T[] {
  const lines = new TextDecoder().decode(bytes).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
