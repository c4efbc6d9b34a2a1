import { describe, expect, it } from 'vitest';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { parseXmlBytes } from './xml.ts';

const encode = (text: string) => [...new TextEncoder().encode(text)];

describe('XML in bytes', () => {
  it('is read as UTF-8, with or without a byte order mark', () => {
    const bytes = encode('<a>é😀\uFFFD</a>');
    for (const input of [bytes, [0xef, 0xbb, 0xbf, ...bytes]]) {
      expect(parseXmlBytes(Uint8Array.from(input))).toMatchObject({ ok: true, value: { root: { text: 'é😀\uFFFD' } } });
    }
  });

  it('is refused if it is not UTF-8, at the first invalid byte', () => {
    const bytes = [...encode('<a>\né\uFFFD😀'), 0xff, ...encode('\uFFFD</a>')];
    expect(parseXmlBytes(Uint8Array.from(bytes))).toMatchObject({
      ok: false,
      problems: [{ code: 'xml/not-utf-8', line: 2, column: 4 }],
    });
    const utf16 = Uint8Array.from([0xff, 0xfe, 0x3c, 0x00]);
    expect(parseXmlBytes(utf16)).toMatchObject({ problems: [{ code: 'xml/not-utf-8', line: 1, column: 1 }] });
  });

  it('is refused if it is too large, before it is decoded', () => {
    expect(parseXmlBytes(new Uint8Array(PROTOCOL_LIMITS.handoffBytes + 1))).toMatchObject({
      problems: [{ code: 'xml/too-large', line: 1, column: 1 }],
    });
    expect(parseXmlBytes(new Uint8Array(PROTOCOL_LIMITS.handoffBytes))).toMatchObject({
      problems: [{ code: 'xml/illegal-character', line: 1, column: 1 }],
    });
  });
});
