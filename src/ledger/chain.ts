import { refused, type Parsed } from '../protocol/problem.ts';
import type { Sha256 } from './crypto.ts';
import type { PreparedDraft } from './draft.ts';
import { parseEntry, renderEnvelope, type Entry } from './entry.ts';
import { sameBytes, toHex } from './hex.ts';
import { DO_NOT_WRITE, ledgerProblem } from './ledger-problem.ts';
import { LIMITS } from './limits.ts';
import { leafHash } from './merkle.ts';
import type { Head, StoredEntry } from './store.ts';

/** The head of a ledger that has no entry yet. */
export const GENESIS: Head = { size: 0, hash: new Uint8Array(32) };

/** An entry with the bytes and the hash that it is stored under. */
export interface LinkedEntry {
  readonly entry: Entry;
  readonly stored: StoredEntry;
}

const encoder = new TextEncoder();

/** Gives each draft its number and its link to the entry before. `drafts` of one caller count their causes from `seq`. */
export function linkDrafts(
  sha256: Sha256,
  project: string,
  at: string,
  after: Head,
  drafts: readonly PreparedDraft[],
): LinkedEntry[] {
  let { size, hash } = after;
  return drafts.map((draft) => {
    size += 1;
    const entry: Entry = {
      v: 1,
      project,
      seq: size,
      prev: toHex(hash),
      at,
      actor: draft.actor,
      type: draft.type,
      cause: seqOfCause(draft.cause, after.size),
      data: draft.data,
    };
    const stored = hashText(sha256, size, renderEnvelope(entry, draft.dataText));
    hash = stored.hash;
    return { entry, stored };
  });
}

/** Does this stored entry follow the head, unchanged? The answer is the entry, or what is wrong with it. */
export function checkLink(sha256: Sha256, project: string, head: Head, stored: StoredEntry): Parsed<Entry> {
  const expected = head.size + 1;
  if (stored.seq !== expected) {
    return broken('ledger/wrong-seq', `entry ${expected} is missing: the next one stored is ${stored.seq}`);
  }
  if (!sameBytes(leafHash(sha256, stored.bytes), stored.hash)) {
    return broken('ledger/wrong-hash', `entry ${expected} is not what was recorded: its hash does not match`);
  }
  const entry = parseEntry(stored.bytes);
  if (!entry.ok) return entry;
  if (entry.value.project !== project) {
    return broken('ledger/wrong-project', `entry ${expected} belongs to the project ${entry.value.project}`);
  }
  if (entry.value.seq !== expected || entry.value.prev !== toHex(head.hash)) {
    return broken('ledger/wrong-link', `entry ${expected} does not follow entry ${head.size}`);
  }
  return entry;
}

/** Reused for every entry. Its first byte stays the 0x00 of a leaf, so that hashing needs no second copy. */
const scratch = new Uint8Array(1 + 3 * LIMITS.entryBytes);

function hashText(sha256: Sha256, seq: number, text: string): StoredEntry {
  const { written } = encoder.encodeInto(text, scratch.subarray(1));
  return { seq, hash: sha256(scratch.subarray(0, 1 + written)), bytes: scratch.slice(1, 1 + written) };
}

function seqOfCause(cause: PreparedDraft['cause'], before: number): number | null {
  return typeof cause === 'object' && cause !== null ? before + 1 + cause.draft : cause;
}

function broken(code: string, message: string): Parsed<never> {
  return refused(ledgerProblem(code, message, DO_NOT_WRITE));
}
