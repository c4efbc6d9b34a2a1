import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Where a project's ledger lies inside a state folder, and the key of the machine that writes it. */
export interface LedgerPlace {
  readonly project: string;
  readonly ledger: string;
  /** The last checkpoint, outside of the database. */
  readonly outside: string;
  readonly key: string;
}

export function ledgerPlace(stateFolder: string, project: string): LedgerPlace {
  const ledger = join(stateFolder, 'projects', `${project}.db`);
  return { project, ledger, outside: `${ledger}.checkpoint`, key: join(stateFolder, 'key.pem') };
}

/**
 * Where the last checkpoint is kept outside of the store. A chain proves order, not completeness: only somebody who
 * remembers how long it was notices that its end is gone.
 */
export interface OutsideCopy {
  /** The copy as text, whatever state it is in; nothing where there is none. */
  read(): string | undefined;
  /** Soon after every commit, so it must cost next to nothing. An older copy is still a valid prefix. */
  write(note: string): void;
  /** Makes the last copy durable: a seal wants that. */
  sync(): void;
  close(): void;
}

/** For tests, and for stores that remember by other means. */
export class MemoryOutsideCopy implements OutsideCopy {
  #note: string | undefined;

  constructor(note?: string) {
    this.#note = note;
  }

  read(): string | undefined {
    return this.#note;
  }

  write(note: string): void {
    this.#note = note;
  }

  sync(): void {}

  close(): void {}
}

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
