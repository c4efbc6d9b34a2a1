import { describe, expect, it } from 'vitest';
import { parseJsonWithComments } from './json-with-comments.ts';

describe('JSON with comments', () => {
  it.for([
    ['{"a": 1} // end', { a: 1 }],
    ['/* first */ {"a": [1, 2, /* three */], // no more\n}', { a: [1, 2] }],
    ['{"url": "https://x/*y*/", "b": "//", "c": ",]"}', { url: 'https://x/*y*/', b: '//', c: ',]' }],
    [String.raw`{"quoted": "\"//\"", "slash": "\\" /* x */,}`, { quoted: '"//"', slash: '\\' }],
    ['\uFEFF[\r\n1 // one\r\n,]', [1]],
  ] as const)('reads %s', ([text, value]) => {
    expect(parseJsonWithComments(text)).toEqual(value);
  });

  it.for(['', '{', '{"a": 1,,}', '[,]x', '{"a": /* open', "{'a': 1}"])('refuses %s', (text) => {
    expect(parseJsonWithComments(text)).toBeUndefined();
  });
});
