import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, firstCharacters, quote, textPositionAt } from './shape/problem.ts';
import { decodeUtf8, utf8Length } from './text/text-format.ts';

const anyUnits = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });

describe('utf8Length', () => {
  it('counts the bytes that an encoder writes, also for lone surrogates', () => {
    fc.assert(
      fc.property(fc.oneof(anyUnits, fc.string({ unit: 'binary' })), (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});

describe('decodeUtf8', () => {
  it('decodes what was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.startsWith('\ufeff'));
        expect(decodeUtf8(new TextEncoder().encode(text))).toBe(text);
        expect(decodeUtf8(new TextEncoder().encode(`\ufeff${text}`))).toBe(text);
        expect(decodeUtf8(`\ufeff${text}`)).toBe(text);
      }),
    );
  });

  it.each([[[0xff]], [[0xc3]], [[0xc0, 0xaf]], [[0xed, 0xa0, 0x80]], [[0xf4, 0x90, 0x80, 0x80]], [[0x61, 0x80]]])(
    'refuses %j',
    (bytes) => {
      expect(decodeUtf8(new Uint8Array(bytes))).toBeUndefined();
    },
  );
});

describe('placeAt', () => {
  it.each([
    ['abc', 0, 1, 1],
    ['abc', 2, 1, 3],
    ['abc', 3, 1, 4],
    ['a\nb', 1, 1, 2],
    ['a\nb', 2, 2, 1],
    ['a\r\nb', 3, 2, 1],
    ['a\rb', 2, 2, 1],
    ['a\n\nb', 3, 3, 1],
    ['é漢b', 2, 1, 3],
    ['😀😀b', 4, 1, 3],
    ['\n😀b', 3, 2, 2],
    ['', 0, 1, 1],
    ['ab', 99, 1, 3],
  ])('%j at %i is line %i column %i', (text, offset, line, column) => {
    expect(textPositionAt(text, offset)).toEqual({ line, column });
  });
});

describe('quote', () => {
  it('cuts after 200 characters, never inside one, and adds an ellipsis', () => {
    expect(quote('x'.repeat(200))).toBe('x'.repeat(200));
    expect(quote('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
    expect(quote('😀'.repeat(200))).toBe('😀'.repeat(200));
    expect(quote(`x${'😀'.repeat(200)}`)).toBe(`x${'😀'.repeat(199)}…`);
  });

  it('keeps text well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(60), (text, count) => {
        expect(firstCharacters(text, count)).toBe(Array.from(text).slice(0, count).join(''));
      }),
    );
  });
});

describe('didYouMean', () => {
  const known = ['notes', 'pr_url', 'version', 'IMPLEMENTATION'];

  it.each([
    ['note', 'Did you mean `notes`?'],
    ['Notes', 'Did you mean `notes`?'],
    ['prurl', 'Did you mean `pr_url`?'],
    ['implementation', 'Did you mean `IMPLEMENTATION`?'],
    ['vresion', 'Did you mean `version`?'],
    ['x', undefined],
    ['', undefined],
    ['summary', undefined],
    ['notes'.repeat(20), undefined],
  ])('%j: %s', (given, hint) => {
    expect(didYouMean(given, known)).toBe(hint);
  });
});
