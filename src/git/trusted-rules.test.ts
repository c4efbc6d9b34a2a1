import { expect, it } from 'vitest';
import { weigh } from './trusted-rules.ts';

it('trusts what was there first, and what came while nobody worked', () => {
  const first = weigh(undefined, ['a', 'b', 'a'], true);
  expect(first).toEqual({ trusted: ['a', 'b'], distrusted: [] });
  expect(weigh(first, ['a', 'c'], false)).toEqual({ trusted: ['a', 'b', 'c'], distrusted: [] });
});

it('distrusts what came while somebody worked, for good', () => {
  const later = weigh({ trusted: ['a'], distrusted: [] }, ['a', '*'], true);
  expect(later).toEqual({ trusted: ['a'], distrusted: ['*'] });
  expect(weigh(later, ['*', 'b'], false)).toEqual({ trusted: ['a', 'b'], distrusted: ['*'] });
  expect(weigh(later, ['a'], false)).toBe(later);
});
