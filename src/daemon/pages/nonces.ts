import { MAX_PAGE_SKEW_MS } from '../../api/page-access.ts';

/** The nonces of signed requests, for as long as a repeated request would still have a valid time. */
export class Nonces {
  readonly #now: () => number;
  readonly #most: number;
  /** In the order in which they expire. */
  readonly #used = new Map<string, number>();

  constructor(now: () => number, most: number = MAX_NONCES) {
    this.#now = now;
    this.#most = most;
  }

  /** `full`: nothing may be forgotten before its time, so the request has to wait. */
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

/** A request may come from a clock that is ahead by the whole skew, and its time is read a moment before its nonce. */
const KEPT_MS = 3 * MAX_PAGE_SKEW_MS;

/** More than a eight hundred requests a second for three minutes. */
const MAX_NONCES = 150_000;
