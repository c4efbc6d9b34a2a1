import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeFrames } from './frames.ts';
import { cutPieces, type Piece } from './pieces.ts';

const SIZE = { columns: 30, rows: 4 };

function cut(...texts: string[]): { readonly pieces: Piece[]; readonly film: ReturnType<typeof takeFrames> } {
  const film = takeFrames(
    texts.map((text, i) => ({ atMs: i * 100, text })),
    SIZE,
  );
  return { film, pieces: cutPieces(film) };
}

describe('cutPieces', () => {
  it('separates columns and styles', () => {
    const { pieces } = cut('  \u001B[36m●\u001B[0m\u001B[1m prep\u001B[0m   0s  running');
    expect(pieces.map(({ column, text, style }) => [column, text, style])).toEqual([
      [2, '●', '36'],
      [4, 'prep', '1'],
      [11, '0s', ''],
      [15, 'running', ''],
    ]);
  });

  it('keeps what was typed, letter by letter', () => {
    const { pieces, film } = cut('$ ', 'b', 'a', ' ', 'c');
    expect(pieces.map(({ column, text }) => [column, text])).toEqual([
      [0, '$'],
      [2, 'b'],
      [3, 'a'],
      [5, 'c'],
    ]);
    expect(pieces.every(({ toMs }) => toMs === undefined)).toBe(true);
    expect(pieces.at(-1)?.fromMs).toBe(film.frames.at(-1)?.atMs);
  });

  it('ends only what changes', () => {
    const { pieces, film } = cut('prep  1s', '\r\u001B[Kprep  2s');
    const changedMs = film.frames[1]?.atMs;
    expect(pieces.map(({ text, fromMs, toMs }) => [text, fromMs === changedMs, toMs])).toEqual([
      ['prep', false, undefined],
      ['1s', false, changedMs],
      ['2s', true, undefined],
    ]);
  });

  it('shows at each time what the screen shows', () => {
    const part = fc.constantFrom(
      'a',
      'b c',
      '  ',
      '\r\n',
      '\r',
      '\u001B[K',
      '\u001B[1mx\u001B[0m',
      '\u001B[1A',
      '\u001B[J',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 30 }), (parts) => {
        const { pieces, film } = cut(...parts);
        for (const { atMs, view } of film.frames) {
          const painted = view.lines.map((line) => line.map(() => ' '));
          for (const { line, column, text, fromMs, toMs } of pieces)
            if (fromMs <= atMs && (toMs === undefined || atMs < toMs))
              painted[line]?.splice(column, text.length, ...text.split(''));
          expect(painted.map((line) => line.join(''))).toEqual(
            view.lines.map((line) => line.map(({ char }) => char).join('')),
          );
        }
      }),
    );
  });
});
