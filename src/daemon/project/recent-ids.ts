/** The newest ids of a kind. Older ones have been recorded, so the set stays small. */
export class RecentIds {
  readonly #ids = new Set<string>();

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  add(id: string): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= MOST_IDS) return;
      this.#ids.delete(oldest);
    }
  }
}

const MOST_IDS = 1000;
