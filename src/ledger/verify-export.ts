import { accepted, refused, type Parsed } from '../protocol/problem.ts';
import { canonicalJson } from './canonical-json.ts';
import { GENESIS } from './chain.ts';
import type { Verifier } from './crypto.ts';
import { isProject } from './entry.ts';
import { parseHex } from './hex.ts';
import { ledgerProblem } from './ledger-problem.ts';
import { Frontier } from './merkle.ts';
import { renderKey } from './note.ts';
import type { StoredEntry } from './store.ts';
import { Keyring } from './trust.ts';
import { Walk } from './walk.ts';

export interface VerifiedExport {
  readonly project: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** The keys that the ledger trusts, the first one first: to be compared with one from elsewhere, unless one was given. */
  readonly keys: readonly string[];
}

const encoder = new TextEncoder();

/** Checks an export, line by line, in bounded memory: chain, hashes, and the signed tree at its end. */
export async function verifyExport(
  verifier: Verifier,
  lines: AsyncIterable<string>,
  knownKey?: string,
  onProgress?: (entries: number) => void,
): Promise<Parsed<VerifiedExport>> {
  let walk: Walk | undefined;
  let keyring: Keyring | undefined;
  let project = '';
  let note: string | undefined;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (note !== undefined) return bad(number, 'there is something after the checkpoint');
    const value = parseLine(line);
    if (value && typeof value.checkpoint === 'string') {
      note = value.checkpoint;
      continue;
    }
    const stored = value && toStored(value);
    if (!value || !stored) return bad(number, 'it is neither {entry, hash} nor {checkpoint}');
    if (!walk) {
      project = projectOf(value.entry);
      keyring = new Keyring(verifier, project);
      walk = new Walk(verifier, project, keyring, { head: GENESIS, frontier: new Frontier(verifier.sha256) });
    }
    const step = walk.step(stored);
    if (!step.ok) return refused(step.finding.problem);
    if (stored.seq % 10_000 === 0) onProgress?.(stored.seq);
  }
  if (!walk || !keyring || note === undefined) return bad(number + 1, 'the checkpoint at the end is missing');
  // The checkpoints in between are not exported; the last one's signature covers all.
  const fault = await walk.findFault({ size: walk.position.head.size, note }, 'check', 'unlinked');
  if (fault) return refused(fault.problem);
  const keys = keyring.trusted.map((key) => renderKey(verifier.sha256, key));
  if (knownKey !== undefined && !keys.includes(knownKey)) {
    return bad(number, 'the ledger does not trust the given key');
  }
  const { head, frontier } = walk.position;
  return accepted({ project, size: head.size, root: frontier.root(), keys });
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toStored({ entry, hash, ...rest }: Record<string, unknown>): StoredEntry | undefined {
  const text = canonicalJson(entry);
  const bytes = typeof hash === 'string' ? parseHex(hash) : undefined;
  if (!text.ok || bytes?.length !== 32 || Object.keys(rest).length > 0) return undefined;
  if (!isRecord(entry) || typeof entry.seq !== 'number') return undefined;
  return { seq: entry.seq, hash: bytes, bytes: encoder.encode(text.value) };
}

function projectOf(entry: unknown): string {
  return isRecord(entry) && isProject(entry.project) ? entry.project : '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(line: number, what: string): Parsed<never> {
  return refused(
    ledgerProblem('bad_export', `line ${line}: ${what}`, 'Export the ledger again.', `line ${line}`),
  );
}
