import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { checkStorm } from './storm/check-storm.ts';
import { randomFrom } from './storm/random.ts';
import { allClearOf, falseAllClears } from './storm/watch-status.ts';

const entry = (type: string, data: object): Entry => ({ type, data }) as unknown as Entry; // oxlint-disable-line typescript/no-unsafe-type-assertion
const NOTES = ['started a', 'kept a', 'started b', 'acknowledged b'];
const GOOD = [
  entry('AgentStarted', { agent_id: 'a', start: 1 }),
  entry('AgentSignalled', { agent_id: 'a' }),
  entry('TaskClaimed', { task_id: 'T', session_id: 'b' }),
  entry('ClaimCompleted', { session_id: 'b' }),
];

describe('the findings after a storm', () => {
  it('are none if every acknowledged signal is recorded once', () => {
    expect(checkStorm({ entries: GOOD, notes: NOTES })).toEqual({ lost: [], startedTwice: [], falseDead: [] });
  });

  it('include a signal that is missing or recorded twice', () => {
    const entries = [
      ...GOOD.filter(({ type }) => type !== 'AgentSignalled'),
      entry('ClaimCompleted', { session_id: 'b' }),
    ];
    expect(checkStorm({ entries, notes: NOTES }).lost).toEqual(['b: recorded 2 times', 'a: recorded 0 times']);
  });

  it('include a session that was started twice, by its processes, by its starts or by its task', () => {
    const entries = [
      ...GOOD,
      entry('AgentStarted', { agent_id: 'a', start: 2 }),
      entry('TaskClaimed', { task_id: 'T', session_id: 'c' }),
    ];
    expect(checkStorm({ entries, notes: [...NOTES, 'started b'] }).startedTwice).toEqual([
      'T: claimed again after b',
      'b: two processes',
      'a: start 2',
    ]);
  });

  it('include a death of an agent that had signalled', () => {
    const dead = entry('HandlerTried', { agent_id: 'a', handler: 'on_dead' });
    const failed = entry('AgentEnded', { agent_id: 'b', outcome: 'failed', reason: 'x' });
    expect(checkStorm({ entries: [...GOOD, dead, failed], notes: NOTES }).falseDead).toEqual([
      'a: on_dead',
      'b: failed, x',
    ]);
  });

  it('include an all-clear from a time in which nothing could be written', () => {
    const windows = [
      { fault: 'full', fromMs: 0, toMs: 100 },
      { fault: 'kill', fromMs: 200, toMs: 300 },
    ];
    const at = (fromMs: number, isAllClear = true) => ({ fromMs, toMs: fromMs + 5, isAllClear });
    expect(falseAllClears([at(5), at(60, false), at(98), at(250)], windows, 10)).toEqual([]);
    expect(falseAllClears([at(60)], windows, 10)).toEqual(['1 false all-clears during a fault (full)']);
  });
});

it('an answer without a verdict counts as an all-clear', () => {
  expect([{ all_clear: false }, { all_clear: true }, { needs_you: [] }].map(allClearOf)).toEqual([false, true, true]);
});

it('the same seed gives the same storm', () => {
  const [one, two, other] = [randomFrom(7), randomFrom(7), randomFrom(8)];
  const first = Array.from({ length: 5 }, () => one());
  expect(Array.from({ length: 5 }, () => two())).toEqual(first);
  expect(Array.from({ length: 5 }, () => other())).not.toEqual(first);
  expect(first.every((n) => n >= 0 && n < 1)).toBe(true);
});
