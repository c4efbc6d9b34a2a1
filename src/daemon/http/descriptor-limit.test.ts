import { expect, it } from 'vitest';
import { parseLimits, readDescriptorLimit } from './connections.ts';

const HEAD = 'Limit                     Soft Limit           Hard Limit           Units\n';

it.each([
  ['256                  256                  files', 256],
  ['unlimited            unlimited            files', Infinity],
])('reads the limit on open files: %s', (line, limit) => {
  expect(parseLimits(`${HEAD}Max open files            ${line}\n`)).toBe(limit);
});

it('is undefined without the line', () => expect(parseLimits('')).toBeUndefined());

it('is a number on this machine', () => expect(readDescriptorLimit()).toBeGreaterThanOrEqual(64));
