import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface LedgerPlace {
  readonly project: string;
  readonly ledger: string;
  /** The copy of the last checkpoint outside the database. */
  readonly outside: string;
  readonly key: string;
}

export function ledgerPlace(stateFolder: string, project: string): LedgerPlace {
  const ledger = join(stateFolder, 'projects', `${project}.db`);
  return { project, ledger, outside: `${ledger}.checkpoint`, key: join(stateFolder, 'key.pem') };
}

/**
 * The last checkpoint, outside the store: only an outside record of the chain's length shows that its end is missing.
 */
export interface OutsideCopy {
  read(): string | undefined;
  /** Called soon after every commit, so it must be fast. An older copy is still a valid prefix. */
  write(note: string): void;
  sync(): void;
  close(): void;
}

/** For a shared store: the replicas of all hosts show that entries are missing. */
export const NO_OUTSIDE_COPY: OutsideCopy = { read: () => undefined, write() {}, sync() {}, close() {} };

/**
 * Overwritten in place: a rename costs as much as the commit. A torn copy has no valid signature and counts as missing.
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
    // Sizes and notes only grow; only the first write over another ledger's longer copy leaves a rest.
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

/** Writes the outside copy of a running ledger. */
export class OutsideCheckpoint {
  readonly #copy: OutsideCopy;
  #note: string | undefined;
  #isOld = false;
  #hasCopied = false;

  constructor(copy: OutsideCopy) {
    this.#copy = copy;
  }

  /**
   * Schedules a write once per turn of the event loop, so that no caller waits. The first is immediate, in case the
   * process is killed right after.
   */
  write(note: string): void {
    this.#note = note;
    if (this.#isOld) return;
    this.#isOld = true;
    if (this.#hasCopied) setImmediate(() => this.#write());
    else this.#write();
  }

  sync(): void {
    if (this.#note !== undefined) this.#copy.write(this.#note);
    this.#isOld = false;
    this.#copy.sync();
  }

  close(): void {
    this.#write();
    this.#copy.close();
  }

  /** The commit is durable even if the copy cannot be written; an older copy is still a valid prefix. */
  #write(): void {
    const isOld = this.#isOld;
    this.#isOld = false;
    if (!isOld || this.#note === undefined) return;
    try {
      this.#copy.write(this.#note);
      this.#hasCopied = true;
    } catch {
      // The disk is full: `sync` writes the copy again, and reports a failure.
    }
  }
}
