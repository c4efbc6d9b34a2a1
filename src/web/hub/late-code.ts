import type * as late from './late.ts';

export type Late = typeof late;

/**
 * Loads the rest of the page's code, all at once, when the daemon has just proved itself. Never later, when it is first needed: another program
 * may have the port by then, and its script would run in the page.
 */
export class LateCode {
  readonly #import: () => Promise<Late>;
  readonly #loaded = Promise.withResolvers<Late>();
  #isAsked = false;

  constructor(importLate: () => Promise<Late> = async () => import('./late.ts')) {
    this.#import = importLate;
  }

  /** Waits until `load` has succeeded. */
  get loaded(): Promise<Late> {
    return this.#loaded.promise;
  }

  /** Call it only when the daemon has proved itself. A failure is tried again at the next call. */
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
