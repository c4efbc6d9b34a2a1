import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { OutsideCopy } from './outside.ts';

/**
 * The outside checkpoint as a file beside the store. It is written in place with one call: a rename would make the file
 * system flush it, and cost as much as the commit. A note lies within one disk sector, so that a torn one is nearly
 * impossible, and harmless: its signature does not match, and it is read as none.
 */
export class OutsideCopyFile implements OutsideCopy {
  readonly #path: string;
  #file: number | undefined;
  #length = Number.POSITIVE_INFINITY;

  constructor(path: string) {
    this.#path = path;
  }

  read(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  write(note: string): void {
    this.#file ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600);
    const length = writeSync(this.#file, note, 0);
    // Sizes only grow, and notes with them; only a first copy over somebody else's longer one leaves a rest behind.
    if (length < this.#length) ftruncateSync(this.#file, length);
    this.#length = length;
  }

  sync(): void {
    if (this.#file !== undefined) fsyncSync(this.#file);
  }

  close(): void {
    if (this.#file === undefined) return;
    fsyncSync(this.#file);
    closeSync(this.#file);
    this.#file = undefined;
  }
}
