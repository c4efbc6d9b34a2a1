import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { writeFileAtomically } from '../api/files.ts';
import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import { sleep } from './timers.ts';

export interface RetryWhileFullOptions {
  /** Asked before each further attempt. */
  readonly isWanted: () => boolean;
  /** Called once, before the first wait. */
  readonly onWait?: (error: unknown) => void;
}

/**
 * Repeats a write that fails because the disk is full or the machine is short of something, less and less often, until it succeeds. Returns false
 * if nobody wants it any more. Other errors are thrown.
 */
export async function retryWhileFull(write: () => void, { isWanted, onWait }: RetryWhileFullOptions): Promise<boolean> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(waitMs * 2, LAST_MS)) {
    try {
      write();
      return true;
    } catch (error) {
      if (!isShortOfResources(error)) throw error;
      if (waitMs === FIRST_MS) onWait?.(error);
    }
    await sleep(waitMs);
    if (!isWanted()) return false;
  }
}

/** Whether an operation failed for want of room, descriptors or memory: it says nothing about what was to be done. */
export function isShortOfResources(error: unknown): boolean {
  return isDiskFault(error) || isShortage(error);
}

const FIRST_MS = 50;
const LAST_MS = 2000;

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
