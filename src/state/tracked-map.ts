/**
 * A map whose changes can be undone: the state is ahead of the ledger, and if a commit fails, it is rolled back without
 * a new fold.
 */
export class TrackedMap<K, V> extends Map<K, V> {
  #changes: { readonly key: K; readonly before: { readonly value: V } | undefined }[] | undefined;

  #frozen: Map<K, V | undefined> | undefined;

  /** Starts recording changes, which can be undone; earlier changes are final. */
  begin(): void {
    this.#changes = [];
  }

  revert(): void {
    for (const { key, before } of (this.#changes ?? []).toReversed()) {
      if (before === undefined) super.delete(key);
      else super.set(key, before.value);
    }
    this.#changes = undefined;
  }

  /** The entries as they are now, in order. Later changes first save the value that they replace. */
  freeze(): FrozenMap<K, V> {
    if (this.#frozen !== undefined) throw new Error('the map is frozen already');
    const before = new Map<K, V | undefined>();
    const keys = [...this.keys()];
    this.#frozen = before;
    const valueOf = (key: K): V | undefined => (before.has(key) ? before.get(key) : this.get(key));
    return {
      *entries() {
        for (const key of keys) {
          const value = valueOf(key);
          if (value !== undefined) yield [key, value];
        }
      },
      release: () => {
        this.#frozen = undefined;
      },
    };
  }

  override set(key: K, value: V): this {
    this.#note(key);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#note(key);
    return super.delete(key);
  }

  #note(key: K): void {
    if (this.#frozen !== undefined && !this.#frozen.has(key)) this.#frozen.set(key, this.get(key));
    if (this.#changes === undefined) return;
    const value = this.get(key);
    this.#changes.push({ key, before: value === undefined ? undefined : { value } });
  }
}

export interface FrozenMap<K, V> {
  /** Can be read once, over any time. */
  entries(): IterableIterator<readonly [K, V]>;
  release(): void;
}
