import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesPattern } from './worker-fit.ts';

it.each([
  ['T1', 'T1', true],
  ['T1', 'T10', false],
  ['*', '', true],
  ['api-*', 'api-', true],
  ['*.ui', 'a.ui', true],
  ['a*a', 'a', false],
  ['a*b*a', 'aba', true],
  ['a*ba*a', 'aba', false],
  ['a.c', 'abc', false],
])('the pattern %s on the id %s: %s', (pattern, id, matches) => {
  expect(matchesPattern(pattern, id)).toBe(matches);
});

it('agrees with a regular expression', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 });
  fc.assert(
    fc.property(pattern, text, (glob, id) => {
      const source = glob.replaceAll('.', String.raw`\.`).replaceAll('*', '.*');
      expect(matchesPattern(glob, id)).toBe(new RegExp(`^${source}$`).test(id));
    }),
    { numRuns: 500 },
  );
});

it('takes linear time, whatever the pattern is', () => {
  const startMs = performance.now();
  expect(matchesPattern(`${'a*'.repeat(500)}b`, 'a'.repeat(20_000))).toBe(false);
  expect(performance.now() - startMs).toBeLessThan(500);
});
