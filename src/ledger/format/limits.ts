import type { Problem } from '../../protocol/shape/problem.ts';

/** Every limit of the ledger, in one place. Reaching one is a clear refusal; nothing is cut off silently. */
export const LEDGER_LIMITS = {
  /** An entry as canonical bytes. One byte less than 64 KiB, so that it fits a C2SP tile, which counts in 16 bits. */
  entryBytes: 65_535,
  /** Objects and arrays inside each other, the envelope being the first. */
  depth: 32,
  /** What one call may add: an import of ten thousand tasks with all that follows. A larger list is a mistake of the caller. */
  draftsPerAppend: 100_000,
  /** What one commit holds at most, so that one slow disk write never keeps thousands of callers waiting. */
  entriesPerCommit: 1_000,
  bytesPerCommit: 4 * 1024 * 1024,
  /** Callers that may wait for a commit at the same time. */
  waitingCallers: 100_000,
  blobBytes: 64 * 1024 * 1024,
  snapshotBytes: 256 * 1024 * 1024,
  /** What a reader holds in memory at a time. */
  entriesPerBatch: 512,
  hashesPerBatch: 8_192,
  /** A signed note with a handful of signatures is far below this. */
  noteBytes: 8_192,
  /** A task proof or an export line; a larger one is refused unread. */
  proofBytes: 64 * 1024 * 1024,
} as const;

/** A problem of the ledger: its inputs are values and stored bytes, so it has no line and no column. */
export function ledgerProblem(code: string, message: string, hint: string, path = ''): Problem {
  return { code, message, path, line: null, column: null, hint };
}

/** What to do about a ledger that is not what was recorded. */
export const DO_NOT_WRITE = 'Compare it with a backup or an export, and do not write to it before that.';
