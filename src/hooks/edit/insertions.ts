/** Text that Baton inserted into a user's file. Removing all insertions restores the file byte for byte. */
export interface Insertion {
  /** Position in the text before any insertion. */
  readonly at: number;
  readonly text: string;
}

export function insertAll(text: string, insertions: readonly Insertion[]): string {
  let result = '';
  let from = 0;
  for (const { at, text: piece } of inOrder(insertions)) {
    result += text.slice(from, at) + piece;
    from = at;
  }
  return result + text.slice(from);
}

/** Returns the original text, or undefined if an insertion is missing from the text. */
export function removeInsertions(text: string, insertions: readonly Insertion[]): string | undefined {
  let result = '';
  let from = 0;
  for (const { at, text: piece } of inOrder(insertions)) {
    const start = from + at - result.length;
    if (!text.startsWith(piece, start)) return undefined;
    result += text.slice(from, start);
    from = start + piece.length;
  }
  return result + text.slice(from);
}

export function removeRanges(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  let result = '';
  let from = 0;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    result += text.slice(from, Math.max(from, start));
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}

/** The first line end of a text; `\n` if it has none. */
export function lineEndOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

function inOrder(insertions: readonly Insertion[]): readonly Insertion[] {
  return insertions.toSorted((a, b) => a.at - b.at);
}
