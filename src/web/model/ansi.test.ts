import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestHue } from './ansi-colors.ts';
import { parseAnsiLine, PLAIN } from './ansi.ts';

const ESC = '\u001b';
const parse = (raw: string): (readonly [string, string])[] =>
  parseAnsiLine(raw).line.spans?.map(({ text, classes }) => [text, classes] as const) ?? [];
const textOf = (raw: string): string => parseAnsiLine(raw).line.text;

describe('styles', () => {
  it.each([
    ['31m', 'ink-red'],
    ['1;92m', 'ink-green bold'],
    ['90m', 'ink-gray'],
    ['4m', 'under'],
    ['41m', 'on-red'],
    ['103m', 'on-yellow'],
    ['38;5;196m', 'ink-red'],
    ['38;5;244m', 'ink-gray'],
    ['48;5;21m', 'on-blue'],
    ['38;2;10;200;30m', 'ink-green'],
    ['38:2::10:200:30m', 'ink-green'],
    ['38;2;255;0;0;1m', 'ink-red bold'],
    ['7m', 'inverse'],
  ])('reads %s as %s', (code, classes) => {
    expect(parse(`a${ESC}[${code}b${ESC}[0mc`)).toEqual([
      ['a', ''],
      ['b', classes],
      ['c', ''],
    ]);
  });

  it('ends bold, underline and colours one by one', () => {
    expect(parse(`${ESC}[1;4;31ma${ESC}[22mb${ESC}[24mc${ESC}[39md`)).toEqual([
      ['a', 'ink-red bold under'],
      ['b', 'ink-red under'],
      ['c', 'ink-red'],
      ['d', ''],
    ]);
  });

  it('shows black and white text in the colour of the page', () => {
    expect(parseAnsiLine(`${ESC}[30mblack${ESC}[97mwhite`).line).toEqual({ text: 'blackwhite', spans: null });
  });

  it('returns the style that the next line begins with', () => {
    const { style } = parseAnsiLine(`${ESC}[32mgreen`);
    expect(parseAnsiLine('still green', style).line.spans).toEqual([{ text: 'still green', classes: 'ink-green' }]);
    expect(parseAnsiLine(`${ESC}[m`, style).style).toBe(PLAIN);
  });
});

describe('text that a terminal would not print', () => {
  it.each([
    ['cursor moves', `a${ESC}[2Jb${ESC}[10;4Hc`, 'abc'],
    ['titles', `a${ESC}]0;evil\u0007b`, 'ab'],
    ['links', `${ESC}]8;;https://x.example\u001b\\click${ESC}]8;;\u001b\\`, 'click'],
    ['device strings', `a${ESC}Pq#0${ESC}\\b`, 'ab'],
    ['8-bit sequences', 'a\u009b31mb', 'ab'],
    ['short sequences', `${ESC}(Ba${ESC}7b${ESC}=`, 'ab'],
    ['an unfinished sequence', `a${ESC}`, 'a'],
    ['an unfinished string', `a${ESC}]0;title`, 'a'],
  ])('drops %s', (_, raw, shown) => {
    expect(textOf(raw)).toBe(shown);
  });

  it('shows other control characters and reordering marks as notes', () => {
    expect(textOf('a\u0007b\u202ec')).toBe('a[U+0007]b[U+202E]c');
  });
});

describe('moves within the line', () => {
  it.each([
    ['a carriage return covers the text before', '10 %\r100 %', '100 %'],
    ['the rest of a longer text stays', 'abcdef\rXY', 'XYcdef'],
    ['a line may end with carriage returns', 'abc\r\r', 'abc'],
    ['an erasure removes the rest', `abcdef\rXY${ESC}[K`, 'XY'],
    ['an erasure of the line removes all of it', `abcdef${ESC}[2K\rX`, 'X     '],
    ['a backspace goes back one', 'ab\bc', 'ac'],
    ['a tab goes to the next column of eight', 'ab\tc', 'ab      c'],
  ])('%s', (_, raw, shown) => {
    expect(textOf(raw)).toBe(shown);
  });

  it('keeps the colours of the remaining text', () => {
    expect(parse(`${ESC}[31mabc${ESC}[0m\rX`)).toEqual([
      ['X', ''],
      ['bc', 'ink-red'],
    ]);
  });
});

it('cuts a line of a megabyte and says so', () => {
  expect(textOf('x'.repeat(1_000_000))).toMatch(/^x{20000}… \(980000 more characters\)$/);
});

it('has spans that join to the text, for any input', () => {
  const pieces = fc.constantFrom(
    ESC,
    `${ESC}[`,
    '31',
    'm',
    ';',
    ']',
    '\r',
    '\b',
    '\t',
    'a',
    '語',
    '😀',
    '\u0301',
    '\u009b',
    'K',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const { text, spans } = parseAnsiLine(parts.join('')).line;
      expect((spans ?? [{ text }]).map((span) => span.text).join('')).toBe(text);
      expect(text).not.toMatch(/[\u001b\u009b\r\b\t]/); // oxlint-disable-line no-control-regex
    }),
  );
});

describe('nearestHue', () => {
  it.each([
    [255, 0, 0, 'red'],
    [255, 20, 60, 'red'],
    [255, 165, 0, 'yellow'],
    [0, 128, 0, 'green'],
    [0, 200, 200, 'cyan'],
    [30, 60, 220, 'blue'],
    [200, 0, 200, 'magenta'],
    [128, 128, 130, 'gray'],
    [0, 0, 0, undefined],
    [250, 250, 250, undefined],
  ] as const)('(%i, %i, %i) is %s', (red, green, blue, hue) => {
    expect(nearestHue(red, green, blue)).toBe(hue);
  });
});
