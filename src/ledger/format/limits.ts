import { type Problem, refused, type Refused } from '../../protocol/shape/problem.ts';

export const LEDGER_LIMITS = {
  /** Canonical bytes of an entry. One byte below 64 KiB, because a C2SP tile counts in 16 bits. */
  entryBytes: 65_535,
  /** Tasks that one entry can be about: with the longest ids a third of an entry. */
  tasksPerEntry: 256,
  /** Nesting of objects and arrays, including the envelope. */
  depth: 32,
  /** Drafts of one call: enough for an import of ten thousand tasks with all consequences. */
  draftsPerAppend: 100_000,
  /** The size of one commit, so that one slow disk write never delays thousands of callers. */
  entriesPerCommit: 1_000,
  bytesPerCommit: 4 * 1024 * 1024,
  waitingCallers: 100_000,
  blobBytes: 64 * 1024 * 1024,
  snapshotBytes: 256 * 1024 * 1024,
  /** Rows that a reader holds in memory at a time. */
  entriesPerBatch: 512,
  hashesPerBatch: 8_192,
  /** Far above a signed note with a handful of signatures. */
  noteBytes: 8_192,
  /** A task proof or an export line; a larger one is refused without parsing. */
  proofBytes: 64 * 1024 * 1024,
} as const;

export function ledgerProblem(code: string, message: string, hint: string, path = ''): Problem {
  return { code, message, path, line: null, column: null, hint };
}

export const DO_NOT_WRITE = 'Compare the ledger with a backup or an export, and do not write to it before that.';

export function refuse(code: string, message: string, hint: string, path = ''): Refused {
  return refused(ledgerProblem(code, message, hint, path));
}
