import { expect, it } from 'vitest';
import { judgeRules } from './origin.ts';

it('trusts the first rules, and rules added while no session worked', () => {
  const first = judgeRules(undefined, ['a', 'b', 'a'], true);
  expect(first).toEqual({ trusted: ['a', 'b'], distrusted: [] });
  expect(judgeRules(first, ['a', 'c'], false)).toEqual({ trusted: ['a', 'b', 'c'], distrusted: [] });
});

it('permanently distrusts rules added while a session worked', () => {
  const later = judgeRules({ trusted: ['a'], distrusted: [] }, ['a', '*'], true);
  expect(later).toEqual({ trusted: ['a'], distrusted: ['*'] });
  expect(judgeRules(later, ['*', 'b'], false)).toEqual({ trusted: ['a', 'b'], distrusted: ['*'] });
  expect(judgeRules(later, ['a'], false)).toBe(later);
});
