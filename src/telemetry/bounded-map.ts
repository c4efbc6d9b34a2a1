/** A map that removes its oldest key when it is full. */
export class BoundedMap<V> {
  readonly #map = new Map<string, V>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  set(key: string, value: V): void {
    this.#map.set(key, value);
    if (this.#map.size <= this.#most) return;
    const [oldest] = this.#map.keys();
    if (oldest !== undefined) this.#map.delete(oldest);
  }

  take(key: string): V | undefined {
    const value = this.#map.get(key);
    this.#map.delete(key);
    return value;
  }
}
