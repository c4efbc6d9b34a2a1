/**
 * Everything that Baton does to a person's file is to put text between what is there; nothing is replaced or left out. So what is put in
 * can be taken out again, and the file is what it was, byte for byte.
 */
export interface Insertion {
  /** Where, in the text before anything was put in. */
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

/** The text as it was before; undefined where what was put in is not there any more. */
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

/** What is cut away, the pieces in any order. */
export function removeRanges(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  let result = '';
  let from = 0;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    result += text.slice(from, Math.max(from, start));
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}

/** How the lines of a text end; those of a text without lines as everywhere here. */
export function lineEndOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

function inOrder(insertions: readonly Insertion[]): readonly Insertion[] {
  return insertions.toSorted((a, b) => a.at - b.at);
}
