/**
 * A map that can take back what was done to it. Commands are decided on a state that runs ahead of what is durable; where the
 * commit fails, the state goes back to where it was, without being folded again.
 */
export class TrackedMap<K, V> extends Map<K, V> {
  #changes: Change<K, V>[] | undefined;

  /** From here on changes can be taken back; those before are for good. */
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

  override set(key: K, value: V): this {
    this.#note(key);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#note(key);
    return super.delete(key);
  }

  #note(key: K): void {
    if (this.#changes === undefined) return;
    const value = this.get(key);
    this.#changes.push({ key, before: value === undefined ? undefined : { value } });
  }
}

interface Change<K, V> {
  readonly key: K;
  readonly before: { readonly value: V } | undefined;
}
