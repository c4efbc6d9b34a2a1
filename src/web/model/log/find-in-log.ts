import type { Span } from '../ansi.ts';
import type { LogChunk } from './log-window.ts';

export interface LogMatch {
  /** The line, counted from the first loaded one. */
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** Further matches are not counted. */
export const MOST_MATCHES = 10_000;

type ChunkMatches = readonly LogMatch[];
const known = new WeakMap<LogChunk, { readonly wanted: string; readonly matches: ChunkMatches }>();

/** Finds every occurrence of the text in the loaded lines, ignoring case; at most `MOST_MATCHES`. */
export function findInLog(chunks: readonly LogChunk[], text: string): LogMatch[] {
  const wanted = text.toLowerCase();
  const found: LogMatch[] = [];
  let first = 0;
  for (const chunk of wanted === '' ? [] : chunks) {
    for (const { line, from, to } of findInChunk(chunk, wanted)) found.push({ line: line + first, from, to });
    if (found.length >= MOST_MATCHES) return found.slice(0, MOST_MATCHES);
    first += chunk.lines.length;
  }
  return found;
}

function findInChunk(chunk: LogChunk, wanted: string): ChunkMatches {
  const before = known.get(chunk);
  if (before?.wanted === wanted) return before.matches;
  const matches: LogMatch[] = [];
  for (const [line, { text }] of chunk.lines.entries()) {
    const lower = lowerCase(text);
    for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + wanted.length)) {
      matches.push({ line, from: at, to: at + wanted.length });
      if (matches.length >= MOST_MATCHES) break;
    }
  }
  known.set(chunk, { wanted, matches });
  return matches;
}

/**
 * Lower-cases text without changing its length: a few letters are longer in lower case, which would shift all later
 * offsets.
 */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

export interface MarkedSpan extends Span {
  readonly match?: LogMatch;
}

/** Splits the spans of a row, which begins at `from` in its line, where matches begin and end. */
export function markSpans(spans: readonly Span[], from: number, matches: readonly LogMatch[]): MarkedSpan[] {
  if (matches.length === 0) return [...spans];
  const marked: MarkedSpan[] = [];
  let at = from;
  for (const { text, classes } of spans) {
    const end = at + text.length;
    while (at < end) {
      const next = matches.find((match) => match.to > at);
      const isInside = next !== undefined && next.from <= at;
      const stop = Math.min(end, isInside ? next.to : (next?.from ?? end));
      const piece = text.slice(text.length - (end - at), text.length - (end - stop));
      marked.push({ text: piece, classes, ...(isInside ? { match: next } : {}) });
      at = stop;
    }
  }
  return marked;
}
