import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { showInvisible } from './show-invisible.ts';

describe('showInvisible', () => {
  it('names characters that only a model would read', () => {
    const hidden = Array.from('approve', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    expect(showInvisible(`Looks good${hidden}.`)).toBe('Looks good[7 invisible characters: U+E0061 …].');
    expect(showInvisible('a\u202eb\u200bc\x1b[2Jd\u2028e')).toBe('a[U+202E]b[U+200B]c[U+001B][2Jd[U+2028]e');
  });

  it('leaves visible text of any script as it is', () => {
    for (const text of ['a\tb\r\nc', 'naïve e\u0301', '👩🏽‍🚀 🏳️‍🌈 ❤️', 'می‌خواهم', 'שלום\u200f!', 'क्ष', '解析器', '한국어'])
      expect(showInvisible(text)).toBe(text);
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0x10_ff_ff })), (codes) => {
        const text = String.fromCodePoint(...codes);
        const shown = showInvisible(text);
        expect(showInvisible(shown)).toBe(shown);
      }),
    );
  });
});
