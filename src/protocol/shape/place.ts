export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/**
 * Readers keep plain offsets, since most documents are fine and nobody asks; the place is counted out only for a problem.
 * Lines end at \n, \r\n or \r. Columns count characters, not UTF-16 units, so that they agree with what an editor shows.
 */
export function textPositionAt(text: string, offset: number): TextPosition {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset && i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const ends = unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10);
    if (!ends) continue;
    line += 1;
    lineStart = i + 1;
  }
  return { line, column: countCharacters(text, lineStart, offset) + 1 };
}

function countCharacters(text: string, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to && i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff && i > from && isHighSurrogate(text.charCodeAt(i - 1));
    if (!isSecondHalf) count += 1;
  }
  return count;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
