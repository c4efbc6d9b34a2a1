import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader, renderFrame, toWord } from './frames.ts';

const LIMIT = 50;

describe('frames', () => {
  it('are decoded as encoded, however the bytes are split', () => {
    const frame = fc.record({
      word: fc.string({ unit: 'grapheme' }),
      body: fc.string({ unit: 'grapheme', maxLength: 60 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(400), { maxLength: 12 }), (frames, cuts) => {
        const bytes = Buffer.from(frames.map(({ word, body }) => renderFrame(`call ${toWord(word)}`, body)).join(''));
        const heard: unknown[] = [];
        const reader = new FrameReader({
          bodyBytes: LIMIT,
          onFrame: ([verb, word], body) => heard.push({ verb, word, body: body?.toString() }) > 0,
        });
        for (const chunk of chunksOf(bytes, cuts)) expect(reader.push(chunk)).toBe(true);
        const isTooLarge = (body: string): boolean => Buffer.byteLength(body) > LIMIT;
        expect(heard).toEqual(
          frames.map(({ word, body }) => ({
            verb: 'call',
            word: toWord(word),
            body: isTooLarge(body) ? undefined : body,
          })),
        );
      }),
    );
  });

  it('consist of words without spaces, none of them empty', () => {
    expect(['', ' ', 'a b', 'a\nb', 'ü', 'T1'].map(toWord)).toEqual(['_', '_', 'a_b', 'a_b', '_', 'T1']);
  });

  it.each(['GET / HTTP/1.1\r\n\r\n', 'call x\n', 'call -1\n', 'call 1e3\n', '\n', 'call 99999999999999999999\n'])(
    'reject %j',
    (text) => {
      expect(readerOf().push(Buffer.from(text))).toBe(false);
    },
  );

  it('have heads of limited length', () => {
    const reader = readerOf();
    expect(reader.push(Buffer.alloc(16_384, 'x'))).toBe(true);
    expect(reader.push(Buffer.from('x'))).toBe(false);
  });

  it('end if their reader rejects a frame', () => {
    const reader = new FrameReader({ bodyBytes: LIMIT, onFrame: () => false });
    expect(reader.push(Buffer.from(renderFrame('what', '')))).toBe(false);
  });
});

function readerOf(): FrameReader {
  return new FrameReader({ bodyBytes: LIMIT, onFrame: () => true });
}

function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}
