import { expect, it } from 'vitest';
import { LogLines } from './logs.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it('gives whole lines, also where characters and lines are cut in two', () => {
  const lines = new LogLines();
  const whole = bytes('first\nsécond\nthird');
  expect(lines.push(whole.subarray(0, 8))).toEqual(['first']);
  expect(lines.push(whole.subarray(8))).toEqual(['sécond']);
  expect(lines.end()).toEqual(['third']);
  expect(lines.end()).toEqual([]);
});

it.each([
  ['\u001B[31mred\u001B[0m\r', 'red'],
  ['10 %\r50 %\r100 %', '100 %'],
  ['\u001B]0;title\u0007x', 'x'],
  ['bell\u0007 \u202E', 'bell\\u0007 \\u202e'],
  ['a\tb', 'a\tb'],
])('%j is shown as %j', (text, shown) => {
  expect(new LogLines().push(bytes(`${text}\n`))).toEqual([shown]);
});

it('does not wait for the end of a line that has none', () => {
  const lines = new LogLines();
  expect(lines.push(bytes('x'.repeat(70_000)))).toEqual(['x'.repeat(70_000)]);
  expect(lines.end()).toEqual([]);
});
