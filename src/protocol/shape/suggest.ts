/** The known word that somebody probably meant, as a hint; undefined where nothing is near enough to be worth saying. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const nearest = findNearest(given, known);
  return nearest === undefined ? undefined : `Did you mean \`${nearest}\`?`;
}

const LONGEST = 40;

export function findNearest(given: string, known: readonly string[]): string | undefined {
  if (given === '' || given.length > LONGEST) return undefined;
  const folded = given.toLowerCase();
  let best: { word: string; distance: number } | undefined;
  for (const word of known) {
    const distance = editDistance(folded, word.toLowerCase());
    if (distance <= Math.max(1, Math.floor(word.length / 3)) && distance < (best?.distance ?? Infinity)) {
      best = { word, distance };
    }
  }
  return best?.word;
}

/** Letters put in, left out, replaced, or swapped with their neighbour; one row at a time. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(substituted, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
