import type { StoredCheckpoint } from './store.ts';

/** One checkpoint at a time, up to a size, and whether it is the last one. */
export class CheckpointCursor {
  readonly #batches: AsyncIterator<readonly StoredCheckpoint[]>;
  readonly #end: number;
  #queue: readonly StoredCheckpoint[] = [];
  #at = 0;
  #ended = false;

  constructor(batches: AsyncIterable<readonly StoredCheckpoint[]>, end: number) {
    this.#batches = batches[Symbol.asyncIterator]();
    this.#end = end;
  }

  get current(): StoredCheckpoint | undefined {
    return this.#queue[this.#at];
  }

  get atLast(): boolean {
    return this.#ended && this.#at === this.#queue.length - 1;
  }

  async advance(): Promise<void> {
    this.#at += this.current ? 1 : 0;
    while (!this.#ended && this.#queue.length - this.#at < 2) {
      const next = await this.#batches.next();
      if (next.done) this.#ended = true;
      else {
        const known = next.value.filter(({ size }) => size <= this.#end);
        this.#queue = [...this.#queue.slice(this.#at), ...known];
        this.#at = 0;
      }
    }
  }
}
