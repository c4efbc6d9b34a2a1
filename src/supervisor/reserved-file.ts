import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { writeFileAtomically } from '../api/files.ts';

/**
 * Room for a small file that must be written later, perhaps on a disk that is full by then. A file system that copies on write may refuse all the
 * same, so that `fill` can throw.
 */
export class ReservedFile {
  readonly #path: string;
  readonly #draft: string;

  /** Throws if there is no room. */
  constructor(path: string) {
    this.#path = path;
    this.#draft = `${path}.draft`;
    try {
      writeFileSync(this.#draft, ' '.repeat(RESERVED_BYTES), { mode: 0o600, flush: true });
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Writes the JSON text in place of the reserved bytes and gives the file its name: readers see all of it or nothing. */
  fill(json: string): void {
    if (Buffer.byteLength(json) > RESERVED_BYTES) return writeFileAtomically(this.#path, json);
    const file = openSync(this.#draft, 'r+');
    try {
      // The blanks of the reservation stay behind the text, and mean nothing in JSON.
      writeSync(file, json, 0);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(this.#draft, this.#path);
  }

  release(): void {
    rmSync(this.#draft, { force: true });
  }
}

const RESERVED_BYTES = 1024;
