import { describe, expect, it } from 'vitest';
import { Screen } from './screen.ts';

function shown(text: string, size = { columns: 20, rows: 5 }): string[] {
  const screen = new Screen(size);
  screen.write(text);
  return screen.view.lines.map((line) => line.map(({ char }) => char).join(''));
}

describe('the screen of a recording', () => {
  it.each([
    ['lines', 'one\r\ntwo', ['one', 'two']],
    ['a line feed alone', 'ab\nc', ['ab', '  c']],
    ['a carriage return', 'abc\rX', ['Xbc']],
    ['an erased end of a line', 'abc\r\u001B[Kx', ['x']],
    ['a region that is painted again', 'a\r\nb\r\n\u001B[2A\r\u001B[KA\n\r\u001B[KB\n\u001B[J', ['A', 'B', ' ']],
    ['lines below that are erased', 'a\r\nb\r\nc\u001B[2A\r\u001B[J', ['']],
    ['a column', 'abc\u001B[2GX', ['aXc']],
    ['a long line', 'abcdef', ['abcd', 'ef']],
    ['a long line without wrapping', '\u001B[?7labcdef', ['abcf']],
    ['a line that fills the width', 'abcd\r\ne', ['abcd', 'e']],
    ['a sequence in two parts', 'a\u001B[1', ['a']],
  ])('shows %s', (_, text, lines) => {
    expect(shown(text, { columns: 4, rows: 5 }).map((line) => line.trimEnd())).toEqual(lines.map((l) => l.trimEnd()));
  });

  it('continues a sequence that arrived in parts', () => {
    const screen = new Screen({ columns: 10, rows: 2 });
    for (const part of ['\u001B', '[3', '2m', '✓', '\u001B[0m!']) screen.write(part);
    expect(screen.view.lines[0]).toEqual([
      { char: '✓', style: '32' },
      { char: '!', style: '' },
    ]);
  });

  it('keeps the lines that scrolled off, and cannot move up to them', () => {
    const screen = new Screen({ columns: 10, rows: 2 });
    screen.write('a\r\nb\r\nc\u001B[9A\rB');
    expect(screen.view.top).toBe(1);
    expect(screen.view.lines.map(([cell]) => cell?.char)).toEqual(['a', 'B', 'c']);
    expect(screen.view.cursor).toEqual({ line: 1, column: 1 });
  });

  it('detects a synchronized update in progress, and a hidden cursor', () => {
    const screen = new Screen({ columns: 10, rows: 2 });
    screen.write('\u001B[?25l\u001B[?2026ha');
    expect(screen.isUpdating).toBe(true);
    screen.write('\u001B[?2026l');
    expect(screen.isUpdating).toBe(false);
    expect(screen.view.cursor).toBeUndefined();
  });

  it.each(['\u001B[4m', '\u001B[?1049h', '\u001B[2J', '\u001B[5B', '\u001B]0;title\u0007', '\u0007', '\t', '漢', '😀'])(
    'refuses %j, which no recording needs',
    (text) => {
      expect(() => shown(text)).toThrow('does not know');
    },
  );
});
