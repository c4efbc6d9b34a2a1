import { expect, it } from 'vitest';
import { encodeByteaArray } from './append.ts';

it('writes dimensions, type, bounds and elements', () => {
  const array = encodeByteaArray([new Uint8Array([1, 2]), new Uint8Array(0)]);
  expect(array.toString('hex')).toBe(
    ['00000001', '00000000', '00000011', '00000002', '00000001', '00000002', '0102', '00000000'].join(''),
  );
});

it('writes an empty array without dimensions', () => {
  expect(encodeByteaArray([]).toString('hex')).toBe('000000000000000000000011');
});
