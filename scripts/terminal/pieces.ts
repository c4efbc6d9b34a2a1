import type { Film } from './frames.ts';
import type { Cell, Style } from './screen.ts';

/** Text that stays at one position for some time. */
export interface Piece {
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly style: Style;
  readonly fromMs: number;
  /** The time at which it disappears; undefined if it stays to the end. */
  readonly toMs: number | undefined;
}

type OpenPiece = Omit<Piece, 'toMs'>;
type Run = Pick<Piece, 'column' | 'text' | 'style'>;

/** Cuts the film into pieces, so that only changes between frames take space in the picture. */
export function cutPieces({ frames }: Film): Piece[] {
  const pieces: Piece[] = [];
  const open: Map<number, OpenPiece>[] = [];
  for (const { atMs, view } of frames)
    for (let line = 0; line < Math.max(open.length, view.lines.length); line += 1) {
      const before = open[line] ?? new Map<number, OpenPiece>();
      const now = new Map<number, OpenPiece>();
      for (const run of runsOf(view.lines[line] ?? []).flatMap((run) => alongOld(run, before)))
        now.set(run.column, sameIn(before, run) ?? { ...run, line, fromMs: atMs });
      for (const piece of before.values()) if (now.get(piece.column) !== piece) pieces.push({ ...piece, toMs: atMs });
      open[line] = now;
    }
  const staying = open.flatMap((line) => [...line.values()].map((piece) => ({ ...piece, toMs: undefined })));
  return [...pieces, ...staying].toSorted((a, b) => a.fromMs - b.fromMs || a.line - b.line || a.column - b.column);
}

/**
 * Splits cells into runs of one style without spaces at their ends. Two spaces separate columns, which change
 * independently.
 */
function runsOf(cells: readonly Cell[]): Run[] {
  const runs: { column: number; text: string; style: Style }[] = [];
  for (const [column, { char, style }] of cells.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && last.style === style && !last.text.endsWith('  ')) last.text += char;
    else runs.push({ column, text: char, style });
  }
  return runs.map(trimmed).filter(({ text }) => text !== '');
}

/** Reuses the pieces of a line that grows: typed text is stored as its letters, not as all of its states. */
function alongOld(run: Run, before: ReadonlyMap<number, OpenPiece>): Run[] {
  const old = before.get(run.column);
  if (old === undefined || old.style !== run.style || !run.text.startsWith(old.text)) return [run];
  const { length } = old.text;
  const rest = trimmed({ ...run, column: run.column + length, text: run.text.slice(length) });
  return [{ ...run, text: old.text }, ...(rest.text === '' ? [] : alongOld(rest, before))];
}

function sameIn(before: ReadonlyMap<number, OpenPiece>, run: Run): OpenPiece | undefined {
  const old = before.get(run.column);
  return old?.text === run.text && old.style === run.style ? old : undefined;
}

function trimmed(run: Run): Run {
  const text = run.text.trimStart();
  return { ...run, column: run.column + run.text.length - text.length, text: text.trimEnd() };
}
