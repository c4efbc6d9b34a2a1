import { PROTOCOL_LIMITS } from '../limits.ts';

export interface Problem {
  readonly code: string;
  readonly message: string;
  /** Dotted path of the value inside the message (`files_modified[0].path`); empty for the whole message. */
  readonly path: string;
  /** 1-based; null if the input was not text. Columns count characters. */
  readonly line: number | null;
  readonly column: number | null;
  readonly hint: string;
}

export type Parsed<T> = { readonly ok: true; readonly value: T } | Refused;

export interface Refused {
  readonly ok: false;
  readonly problems: readonly [Problem, ...Problem[]];
}

export function problem(code: string, message: string, hint: string): Problem {
  return { code, message, path: '', line: null, column: null, hint };
}

export function tooLarge(bytes: number, limit: number): Problem {
  const hint = 'Keep long logs and diffs in files, and name them in the message.';
  return problem('too-large', `input too large: ${bytes} bytes > ${limit} bytes maximum`, hint);
}

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(first: Problem, ...rest: readonly Problem[]): Refused {
  return { ok: false, problems: [first, ...rest] };
}

/** Lines end at \n, \r\n or \r. Columns count characters, not UTF-16 units, as editors do. */
export function textPositionAt(text: string, offset: number): Readonly<Record<'line' | 'column', number>> {
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

/** Quotes a sender's value in a problem text, cut if it is long, but never inside a character. */
export function quote(value: string): string {
  const start = firstCharacters(value, PROTOCOL_LIMITS.quotedCharacters);
  return start.length === value.length ? value : `${start}…`;
}

export function firstCharacters(value: string, count: number): string {
  return Array.from(value.slice(0, count * 2))
    .slice(0, count)
    .join('');
}

export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const nearest = findNearest(given, known);
  return nearest === undefined ? undefined : `Did you mean \`${nearest}\`?`;
}

/** ` (did you mean X?)` for the end of a message; empty if no known name is similar. */
export function meantSuffix(given: string, known: readonly string[]): string {
  const nearest = findNearest(given, known);
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
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
