/**
 * A map whose changes can be undone: the state is ahead of the ledger, and if a commit fails, it is rolled back without
 * a new fold.
 */
export class TrackedMap<K, V> extends Map<K, V> {
  #changes: { readonly key: K; readonly before: { readonly value: V } | undefined }[] | undefined;

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
