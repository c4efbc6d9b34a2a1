import { oneLine, printable } from './text.ts';

/** Rows under each other, each column as wide as its widest cell; the last one ends where it ends. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => printable(oneLine(cell).replaceAll(/\s+/g, ' '))));
  const widths = safe.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, widthOf(cell))),
    [],
  );
  return safe
    .map(
      (row) =>
        `${row
          .map((cell, i) => padTo(cell, widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** A heading and what is known below it; what is not known is left out. */
export function renderFacts(
  heading: string,
  facts: readonly (readonly [name: string, value: string | null])[],
): string {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null && fact[1] !== '');
  return `${printable(heading)}\n${renderTable(known).replaceAll(/^(?=.)/gm, '  ')}`;
}

/** How many columns of a terminal a text takes. Ideographs and emoji take two, marks that combine with what stands before them none. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) width += segmentWidth(segment);
  return width;
}

/** The text in at most so many columns; where it is cut, the last column says so. */
export function fitTo(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (widthOf(text) <= columns) return text;
  if (PLAIN.test(text)) return `${text.slice(0, columns - 1)}…`;
  let fitted = '';
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    width += segmentWidth(segment);
    if (width > columns - 1) break;
    fitted += segment;
  }
  return `${fitted}…`;
}

export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Almost everything is this: one column a character. */
const PLAIN = /^[ -~]*$/;

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });

function segmentWidth(segment: string): number {
  if (segment.length === 1 && segment < '\u0300') return 1;
  if (/^[\p{M}\p{Cf}\p{Cc}]+$/u.test(segment)) return 0;
  // A text character that is asked to look like an emoji (U+FE0F) becomes as wide as one.
  return WIDE.test(segment) || segment.includes('\uFE0F') ? 2 : 1;
}

/** The wide and full-width ranges of Unicode's East Asian Width, and what is shown as emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{1F200}-\u{1F2FF}\u{20000}-\u{3FFFD}])/u;
