import { expect, it } from 'vitest';
import type { TokenUsage } from './stream-event.ts';
import { EMPTY_TALLY, NOTHING_USED, addToTally, totalUsage } from './tally.ts';

const used = (input: number, costMillicents: number | null = null): TokenUsage => ({
  ...NOTHING_USED,
  input,
  costMillicents,
});

it('adds turns, and uses the newest total of a conversation', () => {
  const turns = [used(10, 5), used(20, 7)].map((usage) => ({ kind: 'usage', of: 'turn', usage }) as const);
  expect(totalUsage(turns.reduce(addToTally, EMPTY_TALLY))).toEqual(used(30, 12));
  const counts = [used(10), used(25)].map((usage) => ({ kind: 'usage', of: 'conversation', usage }) as const);
  expect(totalUsage(counts.reduce(addToTally, EMPTY_TALLY))).toEqual(used(25));
});

it('adds the conversations of subagents, and no total decreases', () => {
  const of = 'conversation';
  const counts = [
    { usage: used(10) },
    { usage: used(7), id: 'sub' },
    { usage: used(4) },
    { usage: used(9), id: 'sub' },
  ];
  expect(
    totalUsage(counts.map((each) => ({ kind: 'usage', of, ...each }) as const).reduce(addToTally, EMPTY_TALLY)),
  ).toEqual(used(19));
});

it('accepts an update only for a known message', () => {
  const message = { kind: 'usage', of: 'message', id: 'm1' } as const;
  const unknown = addToTally(EMPTY_TALLY, { ...message, isUpdate: true, usage: used(9) });
  expect(totalUsage(unknown)).toEqual(NOTHING_USED);
  const known = addToTally(addToTally(EMPTY_TALLY, { ...message, usage: used(1) }), {
    ...message,
    isUpdate: true,
    usage: used(9),
  });
  expect(totalUsage(known)).toEqual(used(9));
});
