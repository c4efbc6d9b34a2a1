import { describe, expect, it } from 'vitest';
import { visible } from './visible.ts';

describe('text of agents on the page', () => {
  it.each([
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['a\u202Eb', 'a[U+202E]b'],
    ['a\u2066b\u2069', 'a[U+2066]b[U+2069]'],
    ['a\u200Fb', 'a[U+200F]b'],
    ['a\u001b[31mred', 'a[U+001B][31mred'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['e\u0301 is one letter', 'e\u0301 is one letter'],
  ])('shows %j as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('keeps at most four accents on a letter', () => {
    expect(visible(`a${'\u0301'.repeat(500)}b`)).toBe(`a${'\u0301'.repeat(4)}b`);
  });

  it('cuts a text of a megabyte and says how much is missing', () => {
    expect(visible('x'.repeat(1_000_000), 100)).toBe(`${'x'.repeat(100)}… (999900 more characters)`);
  });
});
