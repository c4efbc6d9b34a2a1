import { closeSync, openSync } from 'node:fs';
import { isShortage } from '../protocol/shortage.ts';

/** A descriptor that is kept for the moment when there is no other: the log must be able to say that there is none. */
export class SpareDescriptor {
  #spare = openSpare();

  /** Does the work; if there is no descriptor for it, gives the spare one away for that long. */
  runWithSpare(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isShortage(error) || this.#spare === undefined) throw error;
      closeSync(this.#spare);
      this.#spare = undefined;
      work();
    } finally {
      this.#spare ??= openSpare();
    }
  }
}

function openSpare(): number | undefined {
  try {
    return openSync('/dev/null', 'r');
  } catch {
    return undefined;
  }
}
