import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { foldedStates, writtenLedger } from './folds.ts';
import { offlineTranscripts } from './offline.ts';
import { takePlace } from './place.ts';
import { realTranscripts, unpackPlace } from './real-ledger.ts';
import type { Transcript } from './transcript.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/recorded');

/** The rows of one file, each a line of JSON, by id. */
export type Rows = ReadonlyMap<string, string>;

/**
 * `machine` must stay the same byte for byte: exit codes, JSON, exports, hashes. So must `states`, unless the state's
 * form is changed on purpose: no entry and no answer shows it. `words` is text for people, which may be reworded.
 */
export interface Recording {
  readonly machine: Rows;
  readonly states: Rows;
  readonly words: Rows;
}

export type Part = keyof Recording;
export const PARTS: readonly Part[] = ['machine', 'states', 'words'];

/** Runs everything with this checkout's code. */
export async function makeRecording(): Promise<Recording> {
  using _place = await takePlace();
  unpackPlace();
  const real = await realTranscripts();
  const transcripts = [...(await offlineTranscripts()), await writtenLedger(), ...real.transcripts];
  return {
    machine: rowsOf(transcripts, ({ code, machine }) => ({ code, machine })),
    states: rowsOf([...foldedStates(), ...real.states], ({ machine }) => machine),
    words: rowsOf(
      transcripts.filter(({ words = [] }) => words.length > 0),
      ({ words }) => words,
    ),
  };
}

function rowsOf(transcripts: readonly Transcript[], row: (transcript: Transcript) => unknown): Rows {
  const rows = new Map<string, string>();
  for (const transcript of transcripts) {
    if (rows.has(transcript.id)) throw new Error(`recorded twice: ${transcript.id}`);
    rows.set(transcript.id, JSON.stringify(row(transcript)));
  }
  return rows;
}

/** Reads a part. Words are stored as plain text, so that a diff shows a change of wording. */
export function readPart(part: Part): Rows {
  const text = part === 'words' ? readFileSync(fileOf(part), 'utf8') : readPacked(fileOf(part));
  return new Map(JSON.parse(text) as [string, string][]); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function writePart(part: Part, rows: Rows): void {
  const lines = [...rows].map((row) => JSON.stringify(row));
  const text = `[\n${lines.join(',\n')}\n]\n`;
  writeFileSync(fileOf(part), part === 'words' ? text : brotliCompressSync(text));
}

function readPacked(file: string): string {
  return brotliDecompressSync(readFileSync(file)).toString();
}

function fileOf(part: Part): string {
  return join(FOLDER, part === 'words' ? 'words.json' : `${part}.json.br`);
}

/** Returns the differences, each with the first differing passage; empty if there are none. */
export function differences(recorded: Rows, now: Rows): string[] {
  const ids = new Set([...recorded.keys(), ...now.keys()]);
  return [...ids].flatMap((id) => {
    const [before, after] = [recorded.get(id), now.get(id)];
    if (before === after) return [];
    if (before !== undefined && after !== undefined && hasSameValues(before, after)) return [];
    if (before === undefined) return [`${id}: was not recorded`];
    if (after === undefined) return [`${id}: is missing`];
    let at = 0;
    while (at < before.length && before[at] === after[at]) at += 1;
    const from = Math.max(0, at - 60);
    return [`${id}:\n  recorded …${before.slice(from, from + 160)}\n  now      …${after.slice(from, from + 160)}`];
  });
}

/**
 * Compares answers by value. Those with recorded values (records, plans, usage) have the key order of the ledger's
 * canonical JSON if the state was folded from entries, and that of the caller's message if it came from a snapshot.
 */
function hasSameValues(before: string, after: string): boolean {
  try {
    return isDeepStrictEqual(valuesOf(before), valuesOf(after));
  } catch {
    return false;
  }
}

function valuesOf(row: string): unknown {
  const { code, machine } = JSON.parse(row) as { code?: number; machine: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { code, machine: JSON.parse(machine) as unknown };
}
