import { accepted } from '../../protocol/shape/problem.ts';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import { parseHex, toHex } from '../format/bytes.ts';
import type { HashedEntry } from '../format/chain.ts';
import type { Sha256 } from '../format/crypto.ts';
import { isProject, parseRawEntry } from '../format/entry.ts';
import { LEDGER_LIMITS } from '../format/limits.ts';
import { leafHash } from '../format/merkle.ts';

/** A line of an export: an entry, or the checkpoint of all entries before it. */
export type ExportLine = { readonly hashed: HashedEntry } | { readonly checkpoint: string };

/** Renders the line of an entry. The canonical text is JSON and is copied unchanged. */
export function renderEntryLine(text: string, hash: Uint8Array): string {
  return `${START}${text}${MIDDLE}${toHex(hash)}${END}`;
}

const START = '{"entry":';
const MIDDLE = ',"hash":"';
const END = '"}';
const HASH_CHARACTERS = 64;

export function renderCheckpointLine(checkpoint: string): string {
  return JSON.stringify({ checkpoint });
}

/**
 * Parses a line in exactly the exported form. Returns undefined for any other spelling of the same JSON: a field that
 * appears twice has two readers that disagree.
 */
export function parseExportLine(sha256: Sha256, line: string): ExportLine | undefined {
  const hashed = parseEntryLine(sha256, line);
  if (hashed !== undefined) return { hashed };
  const value = parseJson(line);
  if (!isObject(value) || typeof value.checkpoint !== 'string') return undefined;
  return line === renderCheckpointLine(value.checkpoint) ? { checkpoint: value.checkpoint } : undefined;
}

/** The text of the entry need not be rendered here: `checkLink` does that. */
function parseEntryLine(sha256: Sha256, line: string): HashedEntry | undefined {
  const end = line.length - END.length - HASH_CHARACTERS;
  const middle = end - MIDDLE.length;
  if (!line.startsWith(START) || !line.startsWith(MIDDLE, middle) || !line.endsWith(END)) return undefined;
  const text = line.slice(START.length, middle);
  // Encoding would replace a lone surrogate and so hash another text.
  if (!text.isWellFormed()) return undefined;
  const value = parseJson(text);
  const expected = parseHex(line.slice(end, -END.length));
  if (expected?.length !== 32 || !isObject(value) || typeof value.seq !== 'number') return undefined;
  const bytes = encoder.encode(text);
  const stored = { seq: value.seq, hash: expected, bytes };
  const raw = bytes.length > LEDGER_LIMITS.entryBytes ? parseRawEntry(bytes) : accepted({ text, value });
  return { stored, hash: leafHash(sha256, bytes), raw };
}

const encoder = new TextEncoder();

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The project that an entry names; empty if it names none. */
export function projectIn({ raw }: HashedEntry): string {
  const value = raw.ok ? raw.value.value : undefined;
  return isObject(value) && isProject(value.project) ? value.project : '';
}
