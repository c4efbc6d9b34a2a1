import { oneLine, printable } from './text.ts';

/** Each column is as wide as its widest cell. The last one is not padded, and is cut if a line is longer than `columns`. */
export function renderTable(rows: readonly (readonly string[])[], columns = Infinity): string {
  const safe = rows.map((row) => row.map((cell) => printable(oneLine(cell).replaceAll(/\s+/g, ' '))));
  const widths = safe.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, widthOf(cell))),
    [],
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const last = Math.max(LEAST_LAST, columns - before);
  const lines = safe.map((row) =>
    row.map((cell, i) => (i < widths.length - 1 ? padTo(cell, widths[i] ?? 0) : fitTo(cell, last))).join(GAP),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

const GAP = '  ';
/** A narrower column would say nothing: the terminal wraps the line instead. */
const LEAST_LAST = 16;

/** A heading and the facts below it; null and empty facts are left out. */
export function renderFacts(
  heading: string,
  facts: readonly (readonly [name: string, value: string | null])[],
): string {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null && fact[1] !== '');
  return `${printable(heading)}\n${renderTable(known).replaceAll(/^(?=.)/gm, '  ')}`;
}

/** The width in terminal columns. Ideographs and emoji take two, combining marks none. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += segmentWidth(segment);
  return width;
}

/** Cuts the text to `columns`. A cut text ends in an ellipsis. */
export function fitTo(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (widthOf(text) <= columns) return text;
  if (PLAIN.test(text)) return `${text.slice(0, columns - 1)}…`;
  let fitted = '';
  let width = 0;
  for (const { segment } of segmentsOf(text)) {
    width += segmentWidth(segment);
    if (width > columns - 1) break;
    fitted += segment;
  }
  return `${fitted}…`;
}

/**
 * Breaks text into lines of at most `columns`, which must be at least 2, at spaces. A longer word is broken anywhere.
 */
export function wrapTo(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(' ').flatMap((word) => splitWord(word, columns))) {
    if (line !== '' && widthOf(line) + 1 + widthOf(part) > columns) {
      lines.push(line);
      line = part;
    } else line = line === '' ? part : `${line} ${part}`;
  }
  return line === '' ? lines : [...lines, line];
}

/** Wraps a line and keeps its indent. Tabs become spaces, because their width is unknown. */
export function hangTo(line: string, columns: number): string[] {
  const plain = columns === Infinity ? line : line.replaceAll('\t', '    ');
  if (widthOf(plain) <= columns) return [plain];
  const text = plain.trimStart();
  const indent = ' '.repeat(Math.min(plain.length - text.length, MOST_INDENT));
  return wrapTo(text, Math.max(MOST_INDENT, columns - indent.length)).map((part) => `${indent}${part.trim()}`);
}

const MOST_INDENT = 12;

function splitWord(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word];
  const parts: string[] = [''];
  let width = 0;
  for (const { segment } of segmentsOf(word)) {
    const wide = segmentWidth(segment);
    if (width > 0 && width + wide > columns) {
      parts.push('');
      width = 0;
    }
    parts[parts.length - 1] += segment;
    width += wide;
  }
  return parts;
}

export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Plain ASCII: one column per character. */
const PLAIN = /^[ -~]*$/;

/** Made when it is needed: most texts are plain, and making it takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function segmentWidth(segment: string): number {
  if (segment.length === 1 && segment < '\u0300') return 1;
  if (/^[\p{M}\p{Cf}\p{Cc}]+$/u.test(segment)) return 0;
  // U+FE0F turns a text character into an emoji, which is wide.
  return WIDE.test(segment) || segment.includes('\uFE0F') ? 2 : 1;
}

/** The wide and full-width ranges of Unicode's East Asian Width, and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{1F200}-\u{1F2FF}\u{20000}-\u{3FFFD}])/u;
