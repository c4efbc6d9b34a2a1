/**
 * A map over another one, which stays unchanged. Making one costs nothing, so a command can be tried on a state of a
 * hundred thousand tasks without a copy. The map below must not change meanwhile.
 */
export class LayeredMap<K, V> extends Map<K, V> {
  readonly #below: ReadonlyMap<K, V>;
  readonly #deleted = new Set<K>();
  /** How many keys of this layer are in the map below too. */
  #replaced = 0;

  constructor(below: ReadonlyMap<K, V>) {
    super();
    this.#below = below;
  }

  override get size(): number {
    return this.#below.size - this.#deleted.size + super.size - this.#replaced;
  }

  override has(key: K): boolean {
    return super.has(key) || this.#isBelow(key);
  }

  override get(key: K): V | undefined {
    return super.has(key) || this.#deleted.has(key) ? super.get(key) : this.#below.get(key);
  }

  override set(key: K, value: V): this {
    if (!super.has(key) && this.#isBelow(key)) this.#replaced += 1;
    return super.set(key, value);
  }

  /** A deleted key that is set again comes last, as in any map. */
  override delete(key: K): boolean {
    const isBelow = this.#isBelow(key);
    const isHere = super.delete(key);
    if (isBelow && isHere) this.#replaced -= 1;
    if (isBelow) this.#deleted.add(key);
    return isBelow || isHere;
  }

  override clear(): void {
    for (const key of this.keys()) this.delete(key);
  }

  override *entries(): MapIterator<[K, V]> {
    for (const [key, value] of this.#below) {
      if (!this.#deleted.has(key)) yield [key, super.has(key) ? (super.get(key) as V) : value]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    }
    for (const [key, value] of super.entries()) if (!this.#isBelow(key)) yield [key, value];
  }

  override *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
  }

  override *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  override [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  override forEach(each: (value: V, key: K, map: Map<K, V>) => void): void {
    for (const [key, value] of this.entries()) each(value, key, this);
  }

  #isBelow(key: K): boolean {
    return this.#below.has(key) && !this.#deleted.has(key);
  }
}
