import { expect, it } from 'vitest';
import { repaint } from './watch.ts';

it('writes only lines that have changed', () => {
  expect(repaint([], [])).toBe('');
  expect(repaint(['a', 'b'], ['a', 'b'])).toBe('');
  expect(repaint(['a', 'b'], ['a', 'c'])).toBe('\u001B[?2026h\u001B[2;1H\u001B[Kc\u001B[?2026l');
});

it('clears lines that no longer exist', () => {
  expect(repaint(['a', 'b', 'c'], ['a'])).toBe('\u001B[?2026h\u001B[2;1H\u001B[K\u001B[3;1H\u001B[K\u001B[?2026l');
});
