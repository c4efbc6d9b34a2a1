import { accepted, type Parsed, refused } from '../../protocol/shape/problem.ts';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import { parseHex, toHex } from '../format/bytes.ts';
import { canonicalJson } from '../format/canonical-json.ts';
import { renderKey } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { isProject } from '../format/entry.ts';
import { refuse } from '../format/limits.ts';
import type { Store, StoredEntry } from '../store.ts';
import { changesKeys, Keyring } from './keyring.ts';
import { type LedgerFault, LedgerWalk } from './walk.ts';

export interface VerifiedExport {
  readonly project: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** The trusted keys, oldest first. Unless the caller gave a known key, compare them with a trusted copy. */
  readonly keys: readonly string[];
}

const encoder = new TextEncoder();

/** Checks an export line by line in bounded memory: chain, hashes, and the signed tree at its end. */
export async function verifyExport(
  verifier: Verifier,
  lines: AsyncIterable<string>,
  knownKey?: string,
  onProgress?: (entries: number) => void,
): Promise<Parsed<VerifiedExport>> {
  let reading: Reading | undefined;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const value = parseLine(line);
    const stored = value && toStored(value);
    if (stored) {
      reading ??= startReading(verifier, value.entry);
      for (const step of reading.walk.steps([stored])) if (!step.ok) return refused(step.finding.problem);
      if (stored.seq % 10_000 === 0) onProgress?.(stored.seq);
    } else if (value && reading && isCheckpointLine(value)) {
      const { size } = reading.walk.position.head;
      if (size === reading.walk.checkpointed) return bad(number, 'the checkpoint appears twice');
      // An export omits checkpoints in between, except those that change the trusted keys.
      const fault = await reading.walk.findFault({ size, note: value.checkpoint }, 'check', 'unlinked');
      if (fault) return refused(fault.problem);
    } else {
      return bad(number, 'the line is neither {entry, hash} nor {checkpoint}');
    }
  }
  if (!reading || reading.walk.checkpointed !== reading.walk.position.head.size) {
    return bad(number + 1, 'the checkpoint at the end is missing');
  }
  const { walk, keyring, project } = reading;
  const keys = keyring.trusted.map((key) => renderKey(verifier.sha256, key));
  if (knownKey !== undefined && !keys.includes(knownKey)) {
    return bad(number, 'the ledger does not trust the given key');
  }
  const { head, frontier } = walk.position;
  return accepted({ project, size: head.size, root: frontier.root(), keys });
}

interface Reading {
  readonly project: string;
  readonly keyring: Keyring;
  readonly walk: LedgerWalk;
}

function startReading(verifier: Verifier, entry: unknown): Reading {
  const project = isObject(entry) && isProject(entry.project) ? entry.project : '';
  const keyring = new Keyring(verifier, project);
  return { project, keyring, walk: new LedgerWalk(verifier, project, keyring) };
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toStored({ entry, hash, ...rest }: Record<string, unknown>): StoredEntry | undefined {
  const text = canonicalJson(entry);
  const bytes = typeof hash === 'string' ? parseHex(hash) : undefined;
  if (!text.ok || bytes?.length !== 32 || Object.keys(rest).length > 0) return undefined;
  if (!isObject(entry) || typeof entry.seq !== 'number') return undefined;
  return { seq: entry.seq, hash: bytes, bytes: encoder.encode(text.value) };
}

function isCheckpointLine(value: Record<string, unknown>): value is { checkpoint: string } {
  return typeof value.checkpoint === 'string' && Object.keys(value).length === 1;
}

function bad(line: number, what: string): Parsed<never> {
  return refuse('ledger/bad-export', `line ${line}: ${what}`, 'Export the ledger again.', `line ${line}`);
}

/**
 * Exports the ledger as NDJSON: one `{entry, hash}` per line, then the checkpoint that covers them. The canonical bytes
 * are JSON and are copied unchanged. After an added or revoked key follows the checkpoint that covers it. Entries after the
 * newest checkpoint are omitted.
 *
 * Every entry is checked before it is written, so that no invalid export leaves the machine: the export ends before the
 * first faulty entry and returns the fault.
 */
export async function* exportLedger(
  store: Store,
  verifier: Verifier,
  project: string,
): AsyncGenerator<string, LedgerFault | undefined> {
  const newest = await store.findCheckpoint();
  if (!newest) return undefined;
  const walk = new LedgerWalk(verifier, project, new Keyring(verifier, project));
  let keysChanged = false;
  for await (const batch of store.entries({ from: 1, to: newest.size })) {
    let lines = '';
    for (const step of walk.steps(batch)) {
      if (!step.ok) return step.finding;
      const { seq, hash, note } = step.stored;
      lines += `{"entry":${step.text},"hash":"${toHex(hash)}"}\n`;
      keysChanged ||= seq > 1 && changesKeys(step.entry.type);
      if (note === undefined) continue;
      const fault = await walk.findFault({ size: seq, note }, seq === newest.size ? 'check' : 'trust');
      if (fault) return fault;
      if (keysChanged && seq !== newest.size) lines += `${JSON.stringify({ checkpoint: note })}\n`;
      keysChanged = false;
    }
    yield lines;
  }
  yield `${JSON.stringify({ checkpoint: newest.note })}\n`;
  return undefined;
}
