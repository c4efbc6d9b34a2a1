import { expect, it } from 'vitest';
import { stripTerminalCodes } from './terminal-codes.ts';

it.each([
  ['\u001B[1;31mred\u001B[0m', 'red'],
  ['\u009B31mred', 'red'],
  ['\u001B]0;title\u0007x', 'x'],
  ['\u001B]8;;https://example.org\u001B\\link\u001B]8;;\u001B\\', 'link'],
  ['\u001BPdevice\u001B\\x', 'x'],
  ['\u001B(Bx\u001B7', 'x'],
  ['a\tb \u001B', 'a\tb \u001B'],
])('%j becomes %j', (text, plain) => {
  expect(stripTerminalCodes(text)).toBe(plain);
});

it('takes linear time for sequences that never end', () => {
  const hostile = ['\u001B[;', ';#', '\u001B]', '\u001BP', '0;'].map((piece) => piece.repeat(300_000));
  const started = performance.now();
  for (const text of hostile) stripTerminalCodes(`\u001B[${text}`);
  expect(performance.now() - started).toBeLessThan(2000);
});
