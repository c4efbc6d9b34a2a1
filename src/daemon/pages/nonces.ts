import { MAX_PAGE_SKEW_MS } from '../../api/page-access.ts';

/** The nonces of signed requests, kept for as long as a repeated request would have a valid time. */
export class Nonces {
  readonly #now: () => number;
  readonly #most: number;
  /** Sorted by expiry. */
  readonly #used = new Map<string, number>();

  constructor(now: () => number, most: number = MAX_NONCES) {
    this.#now = now;
    this.#most = most;
  }

  /** `full`: no nonce may be dropped yet, so the request must wait. */
  add(nonce: string): 'new' | 'used' | 'full' {
    const now = this.#now();
    for (const [old, untilMs] of this.#used) {
      if (untilMs > now) break;
      this.#used.delete(old);
    }
    if (this.#used.has(nonce)) return 'used';
    if (this.#used.size >= this.#most) return 'full';
    this.#used.set(nonce, now + KEPT_MS);
    return 'new';
  }
}

/** A request's clock may be ahead by the whole skew, and its time is checked a moment before its nonce. */
const KEPT_MS = 3 * MAX_PAGE_SKEW_MS;

/** Enough for eight hundred requests a second over three minutes. */
const MAX_NONCES = 150_000;
