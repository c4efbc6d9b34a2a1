import type { LoopMeasure } from '../api/proofs.ts';

/**
 * Measures whether the daemon's event loop turns: a timer beats on the monotonic clock, and a beat that comes late, or is overdue, shows for how
 * long nothing else could run either. A late beat counts for a while, so that a loop that stalls again and again does not look well in between.
 */
export class LoopPulse implements LoopMeasure, Disposable {
  /** How long the loop may stand still. */
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

  /** The longest time lately in which the loop did not turn. */
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
