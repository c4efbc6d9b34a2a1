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
