import { expect, it } from 'vitest';
import { upstreamPath } from './upstream-path.ts';

it.each([
  ['alt=proto', ''],
  ['$alt=proto', ''],
  ['%61lt=proto', ''],
  ['alt=media&a=1', '?a=1'],
  ['alt=sse&alt=proto', ''],
  ['alt=json%3Benum-encoding=int', ''],
  ['alt=sse', '?alt=sse'],
  ['$alt=json', '?$alt=json'],
])('the query %s is sent as "%s"', (query, sent) => {
  expect(upstreamPath(new URL('https://api.example'), `/v1/x?${query}`, 'x-goog-api-key')?.path).toBe(`/v1/x${sent}`);
});
