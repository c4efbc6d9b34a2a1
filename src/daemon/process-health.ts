import type { LoopMeasure } from '../api/all-clear.ts';
import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import { causeOf, type Log, ThrottledLog } from './log.ts';

export interface ProcessEvents {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

/**
 * After a shortage or on a full disk the daemon continues. Anything else is a bug: the daemon logs the error and ends.
 */
export function guardProcess(log: Log, guarded: ProcessEvents = process): void {
  const rare = new ThrottledLog(log);
  const onError = (error: unknown): void => {
    const cause = causeOf(error);
    if (isShortage(error)) rare.error('out of descriptors, processes or memory; the daemon continues', { cause });
    else if (isDiskFault(error)) rare.error('a file cannot be written; the daemon continues', { cause });
    else {
      log.error('the daemon ends because of an internal error', { cause });
      guarded.exit(1);
    }
  };
  guarded.on('uncaughtException', onError);
  guarded.on('unhandledRejection', onError);
}

/**
 * Measures delays of the event loop with a timer. A late tick counts for a while, so that repeated stalls stay visible.
 */
export class LoopPulse implements LoopMeasure, Disposable {
  readonly boundMs: number;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #beatMs: number;
  #late: { readonly byMs: number; readonly atMs: number } = { byMs: 0, atMs: -Infinity };

  constructor(boundMs: number, now: () => number = () => performance.now()) {
    this.boundMs = boundMs;
    this.#now = now;
    this.#beatMs = now();
    this.#timer = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  beat(): void {
    const nowMs = this.#now();
    const byMs = this.#overdueMs(nowMs);
    if (byMs >= this.#lateMs(nowMs)) this.#late = { byMs, atMs: nowMs };
    this.#beatMs = nowMs;
  }

  get lagMs(): number {
    const nowMs = this.#now();
    return Math.max(this.#overdueMs(nowMs), this.#lateMs(nowMs));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #overdueMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#beatMs - BEAT_MS);
  }

  #lateMs(nowMs: number): number {
    return nowMs - this.#late.atMs <= REMEMBER_MS ? this.#late.byMs : 0;
  }
}

const BEAT_MS = 500;

const REMEMBER_MS = 10_000;
