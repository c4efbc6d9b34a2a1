/** How many runs, and decisions, are remembered after they are over: what is older can be read in the ledger. */
export const KEPT_OVER = 1000;

/**
 * Forgets what has been over for the longest time. Which that is says its own `over`, not its place in the map: a map that took
 * something back has another order than one that never held it.
 */
export function keepNewest(map: Map<string, { readonly id: string; readonly over: number | null }>): void {
  if (map.size <= KEPT_OVER) return;
  const over = [...map.values()].filter((each) => each.over !== null);
  if (over.length <= KEPT_OVER) return;
  over.sort((a, b) => (a.over ?? 0) - (b.over ?? 0));
  for (const { id } of over.slice(0, over.length - KEPT_OVER)) map.delete(id);
}
