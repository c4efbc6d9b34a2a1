export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(one);
  return set.size === new Set(other).size && other.every((id) => set.has(id));
}

/** The word that is written for a meaning: the first of those that are read as it. */
export function firstWordFor<M>(words: ReadonlyMap<string, M>, meaning: M): string {
  for (const [word, meant] of words) if (meant === meaning) return word;
  return '';
}
