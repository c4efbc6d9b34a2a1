import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import { claim, create, operator, release, session, worker } from '../say.cases.ts';
import { ClientTasks, hasNoSessionSince, listSessionsSince } from './observe-main.ts';

const [EARLY, LATE] = ['0000', '9999'];

describe('whether a client could have changed the repository since a moment', () => {
  const held: Step[] = [
    [create('A'), operator],
    [create('B'), operator],
    [claim('B', 's1'), worker],
  ];
  const ended: Step[] = [...held, [release('B'), session('s1', 'B')]];

  it.each<[string, readonly Step[], string, boolean]>([
    ['no task was ever claimed', held.slice(0, 2), EARLY, true],
    ['a client holds a claim', held, LATE, false],
    ['its claim ended after that moment', ended, EARLY, false],
    ['its claim ended before that moment', ended, LATE, true],
    ['a person holds the claim', [...held.slice(0, 2), [claim('B', 's1'), operator]], EARLY, true],
  ])('%s', (_, steps, at, isQuiet) => {
    const { state } = given(steps);
    expect([hasNoSessionSince(state, at), listSessionsSince(state, at).length === 0]).toEqual([isQuiet, isQuiet]);
  });
});

it('finds a claim that came after a check had set the task aside', () => {
  const clients = new ClientTasks();
  const story = given([[create('A'), operator]]);
  expect(clients.hasAnySince(story.state, EARLY)).toBe(false);
  const claimed = given([
    [create('A'), operator],
    [claim('A', 's1'), worker],
  ]);
  // The check skips a task until an entry brings it back.
  expect(clients.hasAnySince(claimed.state, EARLY)).toBe(false);
  clients.note({ type: 'TaskClaimed', data: { task_id: 'A' } } as RecordedEvent); // oxlint-disable-line typescript/no-unsafe-type-assertion
  expect(clients.hasAnySince(claimed.state, EARLY)).toBe(true);
});
