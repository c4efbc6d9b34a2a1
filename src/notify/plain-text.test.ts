import { describe, expect, it } from 'vitest';
import { escapeMarkup, plainLine, plainText } from './channel.ts';

describe('plainText', () => {
  it.each([
    ['\u001B[31mred\u001B[0m', 'red'],
    ['\u001B]0;title\u0007after', 'after'],
    ['\u001B]8;;https://example.com\u0007link\u001B]8;;\u0007', 'link'],
    ['bell\u0007 null\u0000 delete\u007F', 'bell null delete'],
    ['turned \u202Earound\u202C', 'turned around'],
    ['\u009B31mcsi in one byte', 'csi in one byte'],
    ['one\r\ntwo\rthree', 'one\ntwo\nthree'],
    ['  around  ', 'around'],
    ['語 and 👩‍🚀', '語 and 👩🚀'],
  ])('%j is %j', (text, plain) => {
    expect(plainText(text, 100)).toBe(plain);
  });

  it('shortens by characters, never inside one', () => {
    expect(plainText('👍👍👍👍', 3)).toBe('👍👍…');
    expect(plainText('abc', 3)).toBe('abc');
  });

  it('leaves no control character for any input', () => {
    const everything = Array.from({ length: 0x3_00 }, (_, code) => String.fromCodePoint(code)).join('\u001B');
    expect(plainText(everything, 10_000)).not.toMatch(/[^\P{C}\n]/u);
  });
});

it('plainLine is one line', () => {
  expect(plainLine('a\n b\t\tc\r\nd', 100)).toBe('a b c d');
});

it('escapeMarkup disables markup and mentions', () => {
  expect(escapeMarkup('<!channel> <b>&')).toBe('&lt;!channel&gt; &lt;b&gt;&amp;');
});
