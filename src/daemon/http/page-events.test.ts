import { expect, it } from 'vitest';
import { parseAfter } from './page-events.ts';

it.each([
  ['', []],
  ['{}', []],
  [
    '{"a":0,"b":7}',
    [
      ['a', 0],
      ['b', 7],
    ],
  ],
])('the header %j names the last entry of each project', (header, expected) => {
  expect([...(parseAfter(header) ?? [])]).toEqual(expected);
});

it.each(['x', '[]', '7', 'null', '{"a":-1}', '{"a":1.5}', '{"a":"1"}', '{"a":null}'])(
  'the header %j is refused',
  (header) => {
    expect(parseAfter(header)).toBeUndefined();
  },
);
