import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import type { Head, StoredEntry } from '../store.ts';
import { sameBytes, toHex } from './bytes.ts';
import type { Sha256 } from './crypto.ts';
import type { PreparedDraft } from './draft.ts';
import { checkRawEntry, type Entry, parseRawEntry, type RawEntry, renderEnvelope } from './entry.ts';
import { DO_NOT_WRITE, refuse } from './limits.ts';
import { leafHash } from './merkle.ts';
import { hasOwnNumber, type TaskNumbers } from './task-numbers.ts';

export const GENESIS: Head = { size: 0, hash: new Uint8Array(32) };

export interface LinkedEntry {
  readonly entry: Entry;
  readonly stored: StoredEntry;
}

const encoder = new TextEncoder();

/**
 * Numbers each draft and links it to the previous entry. A cause inside the list is relative to the list's start. From
 * the first entry with numbers within tasks on, every entry is of version 2.
 */
export function linkDrafts(
  sha256: Sha256,
  project: string,
  at: string,
  after: Head,
  drafts: readonly PreparedDraft[],
  isNumbered = false,
): LinkedEntry[] {
  let { size, hash } = after;
  let hasNumbers = isNumbered;
  return drafts.map((draft) => {
    size += 1;
    hasNumbers ||= draft.tasks !== undefined;
    const entry: Entry = {
      ...(hasNumbers ? { v: 2, tasks: numbersOf(draft) } : { v: 1 }),
      project,
      seq: size,
      prev: toHex(hash),
      at,
      actor: draft.actor,
      type: draft.type,
      cause: seqOfCause(draft.cause, after.size),
      data: draft.data,
    };
    const leaf = encodeLeaf(renderEnvelope(entry, draft.dataText));
    hash = sha256(leaf);
    return { entry, stored: { seq: size, hash, bytes: leaf.subarray(1) } };
  });
}

function numbersOf({ tasks = {}, data, type }: PreparedDraft): TaskNumbers {
  if (!hasOwnNumber(tasks, data)) throw new Error(`${type} is about a task and has no number within it`);
  return tasks;
}

export interface HashedEntry {
  readonly stored: StoredEntry;
  readonly hash: Uint8Array;
  readonly raw: Parsed<RawEntry>;
}

/** Hashes all entries before parsing the first; interleaving takes a tenth longer. */
export function hashEntries(sha256: Sha256, batch: readonly StoredEntry[]): HashedEntry[] {
  const hashed = batch.map((stored) => ({ stored, hash: leafHash(sha256, stored.bytes) }));
  return hashed.map(({ stored, hash }) => ({ stored, hash, raw: parseRawEntry(stored.bytes) }));
}

export interface EntryText {
  readonly entry: Entry;
  readonly text: string;
}

/** Checks that a stored entry follows the head and is unchanged. Returns the entry and its text, or the fault. */
export function checkLink(project: string, head: Head, { stored, hash, raw }: HashedEntry): Parsed<EntryText> {
  const expected = head.size + 1;
  if (stored.seq !== expected) {
    return broken('ledger/wrong-seq', `entry ${expected} is missing: the next one stored is ${stored.seq}`);
  }
  if (!sameBytes(hash, stored.hash)) {
    return broken('ledger/wrong-hash', `entry ${expected} is not what was recorded: its hash does not match`);
  }
  if (!raw.ok) return raw;
  const prev = toHex(head.hash);
  const read = checkRawEntry(raw.value, { project, prev });
  if (!read.ok) return read;
  const entry = read.value;
  if (entry.project !== project) {
    return broken('ledger/wrong-project', `entry ${expected} belongs to the project ${entry.project}`);
  }
  if (entry.seq !== expected || entry.prev !== prev) {
    return broken('ledger/wrong-link', `entry ${expected} does not follow entry ${head.size}`);
  }
  return accepted({ entry, text: raw.value.text });
}

/** Leaves are slices of larger buffers: one allocation per leaf costs more than hashing it. */
const PIECE_BYTES = 256 * 1024;
let piece = new Uint8Array(0);
let used = 0;

/** Encodes the text after the leaf prefix 0x00, so that hashing needs no second copy. */
function encodeLeaf(text: string): Uint8Array {
  const most = 1 + 3 * text.length;
  if (piece.length - used < most) {
    piece = new Uint8Array(Math.max(PIECE_BYTES, most));
    used = 0;
  }
  const { written } = encoder.encodeInto(text, piece.subarray(used + 1));
  const leaf = piece.subarray(used, used + 1 + written);
  used += leaf.length;
  return leaf;
}

function seqOfCause(cause: PreparedDraft['cause'], before: number): number | null {
  return typeof cause === 'object' && cause !== null ? before + 1 + cause.draft : cause;
}

function broken(code: string, message: string): Parsed<never> {
  return refuse(code, message, DO_NOT_WRITE);
}
