const ASCII = /^[\x20-\x7e]*$/;
const NONE: readonly number[] = [];

/** Wraps a line: returns the offsets at which the rows after the first begin. Breaks after spaces if possible. */
export function wrapOffsets(text: string, columns: number): readonly number[] {
  if (text.length <= columns && ASCII.test(text)) return NONE;
  const offsets: number[] = [];
  let start = 0;
  let width = 0;
  let afterSpace = 0;
  let widthThere = 0;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at) ?? 0;
    const own = widthOfPoint(point);
    if (width + own > columns && at > start) {
      const isAtWord = afterSpace > start && widthThere > columns * LEAST_FILLED;
      start = isAtWord ? afterSpace : at;
      width -= isAtWord ? widthThere : width;
      offsets.push(start);
      [afterSpace, widthThere] = [start, 0];
      continue;
    }
    width += own;
    at += point > 0xff_ff ? 2 : 1;
    if (point === 0x20) [afterSpace, widthThere] = [at, width];
  }
  return offsets;
}

/** Rather than leaving a row emptier than this, a word is broken. */
const LEAST_FILLED = 0.4;

const NO_WIDTH = /^[\p{M}\u200b-\u200f]$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

function widthOfPoint(point: number): number {
  if (point < 0x3_00) return 1;
  const character = String.fromCodePoint(point);
  return NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}
