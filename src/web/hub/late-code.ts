import type * as late from './late.ts';

export type Late = typeof late;

/**
 * Loads the rest of the page's code at once, right after the daemon has proved its identity. Loading it later, on first
 * use, would be unsafe: another program may have the port by then, and its script would run in the page.
 */
export class LateCode {
  readonly #import: () => Promise<Late>;
  readonly #loaded = Promise.withResolvers<Late>();
  #isAsked = false;

  constructor(importLate: () => Promise<Late> = async () => import('./late.ts')) {
    this.#import = importLate;
  }

  /** Resolves when `load` has succeeded. */
  get loaded(): Promise<Late> {
    return this.#loaded.promise;
  }

  /** Called only when the daemon has just proved its identity. The next call repeats a failed load. */
  async load(): Promise<void> {
    if (this.#isAsked) return;
    this.#isAsked = true;
    try {
      this.#loaded.resolve(await this.#import());
    } catch {
      this.#isAsked = false;
    }
  }
}
