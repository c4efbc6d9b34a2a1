import { setTimeout as pause } from 'node:timers/promises';
import type { Problem } from '../../protocol/shape/problem.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { ledgerProblem } from '../format/limits.ts';
import { StoreProblem } from '../store.ts';

export interface LockTimes {
  readonly waitMs: number;
  /** The wait after one caller has waited `waitMs` in vain, until a caller succeeds. */
  readonly knownMs: number;
  readonly noticeMs: number;
}

/** Shorter than a supervisor's timeout, so that the supervisor receives the reason and keeps its message. */
export const LOCK_TIMES: LockTimes = { waitMs: 2500, knownMs: 200, noticeMs: 800 };

export function scaleLockTimes(waitMs: number): LockTimes {
  return { waitMs, knownMs: Math.ceil(waitMs / 12), noticeMs: Math.ceil(waitMs / 3) };
}

/**
 * Waits for locks asynchronously: SQLite's busy timeout would block the whole process. `work` must do all or nothing.
 */
export class LockWait {
  readonly #path: string;
  readonly #times: LockTimes;
  readonly #onLocked: (problem: Problem, sinceMs: number) => void;
  /** When the file was first found locked; undefined if the last attempt succeeded. */
  #lockedAtMs: number | undefined;
  #isKnown = false;

  constructor(
    path: string,
    times: LockTimes = LOCK_TIMES,
    onLocked: (problem: Problem, sinceMs: number) => void = () => undefined,
  ) {
    this.#path = path;
    this.#times = times;
    this.#onLocked = onLocked;
  }

  /** Resolves with the value of `work`, or rejects with a `StoreProblem` if the file stays locked for `waitMs`. */
  async run<T>(work: () => T, waitMs?: number): Promise<T> {
    const startMs = performance.now();
    const limitMs = Math.min(waitMs ?? Infinity, this.#isKnown ? this.#times.knownMs : this.#times.waitMs);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const tried = this.#try(work);
      if ('value' in tried) return tried.value;
      const nowMs = performance.now();
      const lockedMs = nowMs - (this.#lockedAtMs ??= nowMs);
      const leftMs = startMs + limitMs - nowMs;
      if (lockedMs >= this.#times.noticeMs) this.#onLocked(databaseLocked(this.#path, lockedMs), lockedMs);
      if (leftMs <= 0) {
        if (lockedMs >= this.#times.waitMs) this.#isKnown = true;
        throw new StoreProblem(databaseLocked(this.#path, lockedMs), tried.busy);
      }
      await pause(Math.min(pauseMs, leftMs));
    }
  }

  #try<T>(work: () => T): { readonly value: T } | { readonly busy: unknown } {
    try {
      const value = work();
      this.#lockedAtMs = undefined;
      this.#isKnown = false;
      return { value };
    } catch (error) {
      if (!isBusy(error)) throw error;
      return { busy: error };
    }
  }
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;
const PERM = 3;
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;
/** Extended codes of IOERR: a failed write, and the shared memory of readers and writers. */
const IOERR_WRITE = 778;
const IOERR_SHMSIZE = 4874;

export function writeProblem(path: string, error: unknown): Problem {
  const what = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (isFull(error)) {
    return ledgerProblem(
      'ledger/disk-full',
      `no space left to write ${path}: ${what}`,
      'Free space on that disk, or raise the quota or the limit on file sizes; recording continues by itself.',
    );
  }
  if (code % 256 === READONLY || hasCode(error, 'EROFS')) {
    const hint =
      'Check who owns the file and its folder, and whether the disk is mounted read-only (after a disk error it is).';
    return ledgerProblem('ledger/read-only', `${path} is read-only: ${what}`, hint);
  }
  if (code % 256 === IOERR || hasCode(error, 'EIO')) {
    const hint = 'Check the disk (dmesg), and copy the state folder to another disk.';
    return ledgerProblem('ledger/disk-error', `the disk of ${path} reports an error: ${what}`, hint);
  }
  const message = `${path} cannot be written: ${what}`;
  return ledgerProblem('ledger/cannot-write', message, 'Check the disk and who owns the file.');
}

export function databaseLocked(path: string, lockedMs: number): Problem {
  const file = shellWord(path);
  return ledgerProblem(
    'ledger/locked',
    `${path} has been locked by another process for ${(lockedMs / 1000).toFixed(1)} s`,
    `Nothing was recorded. Find the process and end it, or its transaction: fuser -v ${file} (or: lsof ${file}). Then try again.`,
  );
}

export function databaseReplaced(path: string): Problem {
  return ledgerProblem(
    'ledger/replaced',
    `${path} was removed, or replaced by another file, while Baton has it open`,
    'Restore the file, and recording continues. To use another file: baton down, then baton ledger verify.',
  );
}

/** Reports whether another process holds a lock; in that case nothing was read or written. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error) % 256;
  return code === BUSY || code === PROTOCOL;
}

export function isDamaged(error: unknown): boolean {
  const code = codeOf(error) % 256;
  return code === CORRUPT || code === NOTADB;
}

/** Reports whether the store is at fault, not the data: every other write would fail too. */
export function isStoreFault(error: unknown): boolean {
  return STORE_FAULTS.has(codeOf(error) % 256);
}

const STORE_FAULTS: ReadonlySet<number> = new Set([PERM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB]);

/** Quotas and file size limits appear as a failed write, not as a full disk. */
function isFull(error: unknown): boolean {
  const code = codeOf(error);
  const isNode = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT') || hasCode(error, 'EFBIG');
  return isNode || code % 256 === FULL || code === IOERR_WRITE || code === IOERR_SHMSIZE;
}

/** SQLite's extended result code; 0 for other errors. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

/** Matches errors of Node, because the lock beside the database is a plain file. */
function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
