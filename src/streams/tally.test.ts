import { expect, it } from 'vitest';
import type { Usage } from './said.ts';
import { EMPTY_TALLY, NOTHING_USED, tally, totalOf } from './tally.ts';

const used = (input: number, costMillicents: number | null = null): Usage => ({
  ...NOTHING_USED,
  input,
  costMillicents,
});

it('adds turns up, and takes the newest count of a conversation', () => {
  const turns = [used(10, 5), used(20, 7)].map((usage) => ({ kind: 'usage', of: 'turn', usage }) as const);
  expect(totalOf(turns.reduce(tally, EMPTY_TALLY))).toEqual(used(30, 12));
  const counts = [used(10), used(25)].map((usage) => ({ kind: 'usage', of: 'conversation', usage }) as const);
  expect(totalOf(counts.reduce(tally, EMPTY_TALLY))).toEqual(used(25));
});
