export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const own = before.then(work, work);
    const settled = own.catch(() => undefined);
    this.#last.set(name, settled);
    try {
      return await own;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }
}

/** Limits how many tasks run at once: if two hundred processes start together, all of them start late. */
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
