import { expect, it } from 'vitest';
import { WorkLines } from './work-lines.ts';

it('puts a heading before each group that has rows, and finds each row again', () => {
  const lines = new WorkLines({ counts: { running: 2, waiting: 0, ended: 3 }, total: 5 });
  expect(lines.length).toBe(7);
  const all = Array.from({ length: 8 }, (_, line) => lines.at(line));
  expect(all.map((line) => (line?.kind === 'row' ? line.index : line?.group))).toEqual([
    'running', 0, 1, 'ended', 2, 3, 4, undefined,
  ]); // prettier-ignore
  for (const index of [0, 1, 2, 3, 4]) expect(lines.at(lines.lineOf(index))).toEqual({ kind: 'row', index });
  expect(lines.lineOf(5)).toBe(-1);
});

it('leaves out what the list does not show', () => {
  const lines = new WorkLines({ counts: { running: 1, waiting: 1, ended: 9 }, total: 2 });
  expect(lines.length).toBe(4);
  expect(lines.at(2)).toEqual({ kind: 'heading', group: 'waiting', count: 1 });
});
