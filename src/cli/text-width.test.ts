import { describe, expect, it } from 'vitest';
import { fitTo, padTo, widthOf, wrapTo } from './table.ts';

describe('widthOf', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['語語', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['👍', 2],
    ['👩‍🚀', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['e\u0301', 1],
    ['é…✓●', 4],
  ])('%s takes %i columns', (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });
});

it('cuts to columns, never through a character', () => {
  expect(fitTo('abcdef', 6)).toBe('abcdef');
  expect(fitTo('abcdef', 5)).toBe('abcd…');
  expect(fitTo('語語語', 5)).toBe('語語…');
  expect(fitTo('語語語', 4)).toBe('語…');
  expect(fitTo('abc', 1)).toBe('…');
  expect(fitTo('abc', 0)).toBe('');
});

it('pads to columns', () => {
  expect(padTo('語', 4)).toBe('語  ');
  expect(padTo('long', 2)).toBe('long');
});

it('breaks lines at spaces, and words that are too long', () => {
  expect(wrapTo('a few words', 80)).toEqual(['a few words']);
  expect(wrapTo('a few words', 6)).toEqual(['a few', 'words']);
  expect(wrapTo('x abcdefghij y', 4)).toEqual(['x', 'abcd', 'efgh', 'ij y']);
  expect(wrapTo('語語語 語', 5)).toEqual(['語語', '語 語']);
});
