import { accepted, type Parsed, refused } from '../../protocol/shape/problem.ts';
import { renderKey } from '../format/checkpoint.ts';
import type { Verifier } from '../format/crypto.ts';
import { refuse } from '../format/limits.ts';
import type { Store } from '../store.ts';
import { parseExportLine, projectIn, renderCheckpointLine, renderEntryLine } from './export-line.ts';
import { changesKeys, Keyring } from './keyring.ts';
import { type LedgerFault, LedgerWalk } from './walk.ts';

export interface VerifiedExport {
  readonly project: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** The trusted keys, oldest first. Unless the caller gave a known key, compare them with a trusted copy. */
  readonly keys: readonly string[];
}

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
    const parsed = parseExportLine(verifier.sha256, line);
    if (parsed !== undefined && 'hashed' in parsed) {
      reading ??= startReading(verifier, projectIn(parsed.hashed));
      const step = reading.walk.step(parsed.hashed);
      if (!step.ok) return refused(step.finding.problem);
      if (step.stored.seq % 10_000 === 0) onProgress?.(step.stored.seq);
    } else if (parsed !== undefined && reading) {
      const { size } = reading.walk.position.head;
      if (size === reading.walk.checkpointed) return bad(number, 'the checkpoint appears twice');
      // An export omits checkpoints in between, except those that change the trusted keys.
      const fault = await reading.walk.findFault({ size, note: parsed.checkpoint }, 'check', 'unlinked');
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

function startReading(verifier: Verifier, project: string): Reading {
  const keyring = new Keyring(verifier, project);
  return { project, keyring, walk: new LedgerWalk(verifier, project, keyring) };
}

function bad(line: number, what: string): Parsed<never> {
  return refuse('ledger/bad-export', `line ${line}: ${what}`, 'Export the ledger again.', `line ${line}`);
}

/**
 * Exports the ledger as NDJSON: one `{entry, hash}` per line, then the checkpoint that covers them. The canonical bytes
 * are JSON and are copied unchanged. An added or revoked key is followed by the checkpoint that covers it. Entries
 * after the newest checkpoint are omitted. Every entry is checked before it is written: the export ends before the
 * first faulty entry and returns the fault, so that no invalid export leaves the machine.
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
      lines += `${renderEntryLine(step.text, hash)}\n`;
      keysChanged ||= seq > 1 && changesKeys(step.entry.type);
      if (note === undefined) continue;
      const fault = await walk.findFault({ size: seq, note }, seq === newest.size ? 'check' : 'trust');
      if (fault) return fault;
      if (keysChanged && seq !== newest.size) lines += `${renderCheckpointLine(note)}\n`;
      keysChanged = false;
    }
    yield lines;
  }
  yield `${renderCheckpointLine(newest.note)}\n`;
  return undefined;
}
