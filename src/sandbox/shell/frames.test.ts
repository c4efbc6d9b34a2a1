import fc from 'fast-check';
import { expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { FrameReader, MAX_FRAME_BYTES, renderFrame } from './frames.ts';

it('reads the same frames however the connection divides their bytes', () => {
  const frame = fc.record({ kind: fc.integer({ min: 0, max: 255 }), content: fc.uint8Array({ maxLength: 300 }) });
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (frames, sizes) => {
      const bytes = Buffer.concat(frames.map(({ kind, content }) => renderFrame(kind, Buffer.from(content))));
      const reader = new FrameReader();
      const read = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        read.push(...(reader.push(bytes.subarray(at, at + size)) ?? []));
        at += size;
      }
      expect(read.map(({ kind, content }) => ({ kind, content: [...content] }))).toEqual(
        frames.map(({ kind, content }) => ({ kind, content: [...content] })),
      );
    }),
    { numRuns: samples(100) },
  );
});

it('refuses a frame that is too large before it has arrived', () => {
  const header = renderFrame(1).fill(0xff, 1);
  expect(new FrameReader().push(header)).toBeUndefined();
  const largest = Buffer.alloc(5);
  largest.writeUInt32BE(MAX_FRAME_BYTES - 5, 1);
  expect(new FrameReader().push(largest)).toEqual([]);
});
