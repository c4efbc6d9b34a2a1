import type { Span, StyledLine } from '../ansi.ts';
import type { LogChunk } from './log-window.ts';
import { wrapOffsets } from './wrap.ts';

/** The lines of a log, wrapped to a number of columns: rows of equal height with fast random access. */
export class LogRows {
  readonly count: number;
  readonly #chunks: readonly LogChunk[];
  readonly #lines: readonly StyledLine[];
  readonly #offsets: readonly (readonly number[])[];
  /** The first row of each line. */
  readonly #starts: Uint32Array;

  constructor(chunks: readonly LogChunk[], columns: number) {
    this.#chunks = chunks;
    const wrapped = chunks.map((chunk) => wrapChunk(chunk, columns));
    this.#lines = chunks.flatMap(({ lines }) => lines);
    this.#offsets = wrapped.flat();
    this.#starts = new Uint32Array(this.#lines.length);
    let row = 0;
    for (const [line, offsets] of this.#offsets.entries()) {
      this.#starts[line] = row;
      row += offsets.length + 1;
    }
    this.count = row;
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  lineOf(row: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The row with the character at this offset of a line. */
  rowOf(line: number, offset = 0): number {
    const before = (this.#offsets[line] ?? []).filter((start) => start <= offset).length;
    return (this.#starts[line] ?? 0) + before;
  }

  /** A position that stays valid when lines before it are added or dropped, or the width changes. */
  anchorAt(row: number): LogAnchor | undefined {
    let line = this.lineOf(row);
    for (const { from, lines } of this.#chunks) {
      if (line < lines.length) return { chunk: from, line, rows: row - this.rowOf(this.lineOf(row)) };
      line -= lines.length;
    }
    return undefined;
  }

  /** Returns undefined if the position is no longer loaded. */
  rowOfAnchor({ chunk, line, rows }: LogAnchor): number | undefined {
    let first = 0;
    for (const { from, lines } of this.#chunks) {
      if (from === chunk) return this.rowOf(first + line) + rows;
      first += lines.length;
    }
    return undefined;
  }

  row(index: number): LogRow {
    const line = this.lineOf(index);
    const { text = '', spans = null } = this.#lines[line] ?? {};
    const offsets = this.#offsets[line] ?? [];
    const nth = index - (this.#starts[line] ?? 0);
    const from = nth === 0 ? 0 : (offsets[nth - 1] ?? 0);
    const to = offsets[nth] ?? text.length;
    return { line, from, isFirst: nth === 0, spans: cutSpans(spans ?? [{ text, classes: '' }], from, to) };
  }
}

export interface LogAnchor {
  /** The chunk's offset in the file. */
  readonly chunk: number;
  /** The line in the chunk, and the row in the line. */
  readonly line: number;
  readonly rows: number;
}

export interface LogRow {
  readonly line: number;
  /** The offset in the line at which the row begins. */
  readonly from: number;
  readonly isFirst: boolean;
  readonly spans: readonly Span[];
}

/** Caches wrapped chunks. A chunk never changes, so only a new width wraps it again. */
const known = new WeakMap<LogChunk, { readonly columns: number; readonly offsets: readonly (readonly number[])[] }>();

function wrapChunk(chunk: LogChunk, columns: number): readonly (readonly number[])[] {
  const found = known.get(chunk);
  if (found?.columns === columns) return found.offsets;
  const offsets = chunk.lines.map(({ text }) => wrapOffsets(text, columns));
  known.set(chunk, { columns, offsets });
  return offsets;
}

function cutSpans(spans: readonly Span[], from: number, to: number): Span[] {
  const cut: Span[] = [];
  let at = 0;
  for (const { text, classes } of spans) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece !== '') cut.push({ text: piece, classes });
    at += text.length;
  }
  return cut;
}
