/** Lets one in at a time for each name; others are not held up. */
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
