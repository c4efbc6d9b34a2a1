import { expect, it } from 'vitest';
import { oneLine } from './text.ts';

it.each([
  ['one', 'one'],
  ['It ended\nwith this', 'It ended · with this'],
  ['It ended \r\n\n   hint: look\n', 'It ended · hint: look '],
  ['a\tb', 'a b'],
  ['    measured: 1 commit ', '    measured: 1 commit '],
  ['', ''],
])('%j is %j', (text, line) => expect(oneLine(text)).toBe(line));
