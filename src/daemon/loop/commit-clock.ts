/**
 * The clock of a ledger. While a batch is decided and recorded it stands still, so that the state, which runs ahead, and the
 * entries, which follow, say the same time.
 */
export class CommitClock {
  readonly #now: () => Date;
  #pinned: Date | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Stops the clock, and says what it shows. */
  pin(): string {
    this.#pinned = this.#now();
    return this.#pinned.toISOString();
  }

  unpin(): void {
    this.#pinned = undefined;
  }

  read(): Date {
    return this.#pinned ?? this.#now();
  }
}
