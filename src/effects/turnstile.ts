/** Lets a few in at a time: two hundred processes that start at once all start late. */
export class Semaphore {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#width) {
      await new Promise<void>((enter) => {
        this.#waiting.push(enter);
      });
    }
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#waiting.shift()?.();
    }
  }
}
