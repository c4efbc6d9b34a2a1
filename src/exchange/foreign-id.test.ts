import fc from 'fast-check';
import { expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { fromTaskId, isTaskId, toTaskId } from './foreign-id.ts';

it('leaves most ids unchanged', () => {
  expect(['bd-a1b2', '3.1', 'T042', 'x-y'].map(toTaskId)).toEqual(['bd-a1b2', '3.1', 'T042', 'x-y']);
});

it('rewrites ids that Baton cannot hold', () => {
  expect(toTaskId('fix login')).toBe('x--fix_20_login');
  expect(fromTaskId('x--fix_20_login')).toBe('fix login');
  expect(toTaskId('x--fix_20_login')).toBe('x--x--fix_5f_20_5f_login');
  expect(toTaskId('')).toBeUndefined();
  expect(toTaskId('é'.repeat(40))).toBeUndefined();
});

const awkward = fc.array(fc.constantFrom('x--', '_', '20', '5f', 'a', ' ', '.', 'é', '-'), { maxLength: 8 });

it('restores every id', () => {
  const texts = fc.oneof(
    fc.string(),
    awkward.map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const id = toTaskId(text);
      expect(id === undefined || (isTaskId(id) && fromTaskId(id) === text)).toBe(true);
      expect(!isTaskId(text) || toTaskId(fromTaskId(text)) === text).toBe(true);
    }),
    { numRuns: samples(3000) },
  );
});
