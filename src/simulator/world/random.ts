/** A seeded generator (sfc32). The same seed and label always give the same numbers, on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: number, label = '') {
    let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
    for (let i = 0; i < label.length; i += 1) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
    this.#a = hash | 0;
    this.#b = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    this.#c = seed | 0;
    for (let i = 0; i < 12; i += 1) this.#next();
  }

  /** A whole number from 0 up to but not including `limit`. */
  below(limit: number): number {
    return Math.floor((this.#next() / 4_294_967_296) * limit);
  }

  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  chance(probability: number): boolean {
    return this.#next() / 4_294_967_296 < probability;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }

  /** Picks from a list that has at least one item. */
  choose<T>(first: T, ...others: readonly T[]): T {
    return this.pick([first, ...others]) ?? first;
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
