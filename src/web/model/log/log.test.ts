import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findInLog, markSpans } from './find-in-log.ts';
import { LogRows } from './log-rows.ts';
import { appendPart, type LogPart, type LogWindow, prependPart } from './log-window.ts';
import { wrapOffsets } from './wrap.ts';

const bytesIn = (text: string): number => new TextEncoder().encode(text).length;
const part = (from: number, text: string): LogPart => ({ from, to: from + bytesIn(text), text, kinds: [] });
const linesOf = ({ chunks }: LogWindow): string[] => chunks.flatMap(({ lines }) => lines.map(({ text }) => text));
const styleOf = ({ chunks }: LogWindow, line: number): string | undefined =>
  chunks.flatMap(({ lines }) => lines)[line]?.spans?.[0]?.classes;

describe('the window of a log', () => {
  it('joins lines that come in several parts', () => {
    const text = 'one\ntwo – three\n\nfour';
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 6 }), (places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), text.length];
        let window: LogWindow | undefined;
        for (const [i, cut] of cuts.slice(1).entries()) {
          const piece = text.slice(cuts[i], cut);
          window = appendPart(window, part(window?.to ?? 0, piece));
        }
        expect(window === undefined ? [] : linesOf(window)).toEqual(['one', 'two – three', '', 'four']);
        expect(window).toMatchObject({ from: 0, to: bytesIn(text) });
      }),
    );
  });

  it('continues a colour in the next part', () => {
    const window = appendPart(appendPart(undefined, part(0, '\u001b[31mred\n')), part(9, 'still\n'));
    expect(styleOf(window, 1)).toBe('ink-red');
  });

  it('reads an unfinished line again with the style that it began in', () => {
    const window = appendPart(appendPart(undefined, part(0, 'a \u001b[31mre')), part(9, 'd\n'));
    expect(window.chunks.flatMap(({ lines }) => lines)).toEqual([
      {
        text: 'a red',
        spans: [
          { text: 'a ', classes: '' },
          { text: 'red', classes: 'ink-red' },
        ],
      },
    ]);
  });

  it('shows the lines of a client by their kind', () => {
    const window = appendPart(undefined, {
      from: 0,
      to: 90,
      text: 'Bash npm test\n  ok\u0007\n',
      kinds: ['tool', 'text'],
    });
    expect(window.chunks.flatMap(({ lines }) => lines)).toEqual([
      { text: 'Bash npm test', spans: [{ text: 'Bash npm test', classes: 'ink-blue' }] },
      { text: '  ok[U+0007]', spans: null },
    ]);
  });

  it('restarts when the file was replaced', () => {
    const window = appendPart(appendPart(undefined, part(0, 'old\n')), part(100, 'new\n'));
    expect(linesOf(window)).toEqual(['new']);
    expect(window.from).toBe(100);
  });

  it('adds older parts in front', () => {
    const window = prependPart(appendPart(undefined, part(8, 'three\n')), part(0, 'one\ntwo\n'));
    expect(linesOf(window)).toEqual(['one', 'two', 'three']);
    expect(window).toMatchObject({ from: 0, to: 14 });
  });

  it('ignores an older part that does not fit', () => {
    const window = prependPart(appendPart(undefined, part(8, 'three\n')), part(0, 'one\n'));
    expect(linesOf(window)).toEqual(['three']);
  });

  it('drops the oldest lines while it follows', () => {
    const limits = { lines: 3, chars: 1000 };
    let window = appendPart(undefined, part(0, 'a\nb\n'), limits);
    window = appendPart(window, part(4, 'c\nd\n'), limits);
    expect(linesOf(window)).toEqual(['c', 'd']);
    expect(window).toMatchObject({ from: 4, to: 8 });
  });

  it('drops the newest lines while the reader scrolls back, and can request them again', () => {
    const limits = { lines: 3, chars: 1000 };
    let window = appendPart(undefined, part(4, 'c\nd'), limits);
    window = prependPart(window, part(0, 'a\nb\n'), limits);
    expect(linesOf(window)).toEqual(['a', 'b']);
    expect(window).toMatchObject({ from: 0, to: 4 });
    expect(linesOf(appendPart(window, part(4, 'c\nd\n')))).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is bounded by characters too', () => {
    const limits = { lines: 100, chars: 10 };
    const window = appendPart(appendPart(undefined, part(0, '12345678\n'), limits), part(9, '12345678\n'), limits);
    expect(linesOf(window)).toHaveLength(1);
  });
});

describe('wrapOffsets', () => {
  const rowsOf = (text: string, columns: number): string[] => {
    const offsets = [0, ...wrapOffsets(text, columns), text.length];
    return offsets.slice(1).map((end, i) => text.slice(offsets[i], end));
  };

  it.each([
    ['short', 10, ['short']],
    ['a few words here', 8, ['a few ', 'words ', 'here']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['語語語', 4, ['語語', '語']],
    ['😀😀😀', 5, ['😀😀', '😀']],
  ])('wraps %s to %i columns', (text, columns, rows) => {
    expect(rowsOf(text, columns)).toEqual(rows);
  });

  it('loses nothing and ends, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
        expect(rowsOf(text, columns).join('')).toBe(text);
      }),
    );
  });
});

describe('rows', () => {
  const window = appendPart(undefined, part(0, 'one\n\u001b[32mabcdefgh\u001b[0m\nlast\n'));
  const rows = new LogRows(window.chunks, 4);

  it('counts wrapped rows', () => {
    expect([rows.lineCount, rows.count]).toEqual([3, 4]);
  });

  it('cuts a line with its styles', () => {
    expect([0, 1, 2, 3].map((i) => rows.row(i))).toEqual([
      { line: 0, from: 0, isFirst: true, spans: [{ text: 'one', classes: '' }] },
      { line: 1, from: 0, isFirst: true, spans: [{ text: 'abcd', classes: 'ink-green' }] },
      { line: 1, from: 4, isFirst: false, spans: [{ text: 'efgh', classes: 'ink-green' }] },
      { line: 2, from: 0, isFirst: true, spans: [{ text: 'last', classes: '' }] },
    ]);
  });

  it('finds the row of a place in a line', () => {
    expect([rows.rowOf(1), rows.rowOf(1, 3), rows.rowOf(1, 4), rows.rowOf(2)]).toEqual([1, 1, 2, 3]);
  });
});

it('keeps its place when older lines are added', () => {
  const before = appendPart(undefined, part(8, 'three\nfour\n'));
  const anchor = new LogRows(before.chunks, 80).anchorAt(1);
  const after = new LogRows(prependPart(before, part(0, 'one\ntwo\n')).chunks, 80);
  expect(anchor === undefined ? undefined : after.rowOfAnchor(anchor)).toBe(3);
  expect(after.rowOfAnchor({ chunk: 999, line: 0, rows: 0 })).toBeUndefined();
});

describe('find', () => {
  const window = appendPart(appendPart(undefined, part(0, 'Error: x\nfine\n')), part(14, 'two errors, error\n'));

  it('finds every place in all parts, in any case', () => {
    expect(findInLog(window.chunks, 'ERROR')).toEqual([
      { line: 0, from: 0, to: 5 },
      { line: 2, from: 4, to: 9 },
      { line: 2, from: 12, to: 17 },
    ]);
  });

  it('finds nothing for an empty text', () => {
    expect(findInLog(window.chunks, '')).toEqual([]);
  });

  it('marks matches across spans, and joins to the same text', () => {
    const spans = [
      { text: 'two er', classes: '' },
      { text: 'rors', classes: 'bold' },
    ];
    const match = { line: 2, from: 4, to: 9 };
    expect(markSpans(spans, 0, [match])).toEqual([
      { text: 'two ', classes: '' },
      { text: 'er', classes: '', match },
      { text: 'ror', classes: 'bold', match },
      { text: 's', classes: 'bold' },
    ]);
  });

  it('marks the rest of a match in the next row', () => {
    expect(markSpans([{ text: 'rors', classes: '' }], 6, [{ line: 0, from: 4, to: 9 }])).toMatchObject([
      { text: 'ror' },
      { text: 's' },
    ]);
  });
});
