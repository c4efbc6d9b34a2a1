import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { delay } from '../api/client/http.ts';
import { writeFileAtomically } from '../api/files.ts';
import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';

/** Repeats a write while disk space is short, with growing delays. Returns false if the write is no longer needed. */
export async function retryWhileFull(
  write: () => void,
  isWanted: () => boolean,
  onWait: (error: unknown) => void = () => {},
): Promise<boolean> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(waitMs * 2, LAST_MS)) {
    try {
      write();
      return true;
    } catch (error) {
      if (!isShortOfResources(error)) throw error;
      if (waitMs === FIRST_MS) onWait(error);
    }
    await delay(waitMs);
    if (!isWanted()) return false;
  }
}

export function isShortOfResources(error: unknown): boolean {
  return isDiskFault(error) || isShortage(error);
}

const FIRST_MS = 50;
const LAST_MS = 2000;

/**
 * Reserves disk space for a small file. A copy-on-write file system may still refuse the write, so `fill` can throw.
 */
export class ReservedFile {
  readonly #path: string;
  readonly #draft: string;

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

  /** Overwrites the reserved bytes and renames the file: readers see the whole content or no file. */
  fill(json: string): void {
    if (Buffer.byteLength(json) > RESERVED_BYTES) return writeFileAtomically(this.#path, json);
    const file = openSync(this.#draft, 'r+');
    try {
      // The reserved blanks stay after the text, which JSON allows.
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
