import { setTimeout as pause } from 'node:timers/promises';
import { StoreProblem } from '../store-problem.ts';
import { isBusy, databaseLocked } from './problems.ts';

export interface LockTimes {
  /** How long a caller waits for a file that another process has locked. */
  readonly waitMs: number;
  /** The same while the file is known to be locked: a caller has waited for `waitMs` in vain, and none has succeeded since. */
  readonly knownMs: number;
  /** A lock that lasts longer than this is reported. */
  readonly noticeMs: number;
}

/** Shorter than a supervisor waits for an answer, so that it learns why and keeps its message. */
export const LOCK_TIMES: LockTimes = { waitMs: 2500, knownMs: 200, noticeMs: 800 };

/** Times in proportion to how long a caller waits. */
export function scaleLockTimes(waitMs: number): LockTimes {
  return { waitMs, knownMs: Math.ceil(waitMs / 12), noticeMs: Math.ceil(waitMs / 3) };
}

/**
 * Waits for other processes that have locked the file. `node:sqlite` is synchronous, and SQLite's own busy timeout would stop the whole
 * process, so SQLite gives up at once and the statement is tried again in short asynchronous waits. `work` must do all or nothing.
 */
export class LockWait {
  readonly #path: string;
  readonly #times: LockTimes;
  readonly #onLocked: (problem: StoreProblem['problem'], sinceMs: number) => void;
  /** When the file was first found locked; undefined if the last try succeeded. */
  #lockedAtMs: number | undefined;
  #isKnown = false;

  constructor(
    path: string,
    times: LockTimes = LOCK_TIMES,
    onLocked: (problem: StoreProblem['problem'], sinceMs: number) => void = () => undefined,
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
