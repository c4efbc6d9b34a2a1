import { expect, it } from 'vitest';
import { acceptsGzip } from './finish-response.ts';

it.each([
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['br;q=1.0, GZIP;q=0.8', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0, br', false],
  ['gzip;q=0.05', true],
  ['x-gzip', false],
  ['identity', false],
  [undefined, false],
])('accept-encoding %j allows gzip: %s', (header, isAllowed) => {
  expect(acceptsGzip(header)).toBe(isAllowed);
});
