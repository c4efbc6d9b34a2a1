import { describe, expect, it } from 'vitest';
import { createStory, given, OPEN, type Step, type Story } from '../given.cases.ts';
import { trackReadyTasks, type ReadyTasks } from './ready.ts';
import { claim, create, depend, operate, operator, session, release, worker } from '../say.cases.ts';
import type { Task } from './task.ts';

const ids = (tasks: readonly Task[]): string[] => tasks.map(({ id }) => id);
const order = (steps: Step[]): string[] => {
  const { state } = given(steps);
  return ids(trackReadyTasks(state, OPEN).first(state, 100));
};

describe('the tasks that can be claimed now', () => {
  it('is ordered by the longest remaining chain, then priority, then age', () => {
    const tasks: Step[] = [
      [create('old'), operator],
      [create('urgent', { priority: 5 }), operator],
      [create('young'), operator],
      [create('head'), operator],
      [create('middle', { after: ['head'] }), operator],
      [create('end', { after: ['middle'] }), operator],
      [create('short'), operator],
      [create('next', { after: ['short'], priority: 9 }), operator],
    ];
    expect(order(tasks)).toEqual(['head', 'short', 'urgent', 'old', 'young']);
    expect(order([...tasks, [operate('waive', 'x', 'head'), operator]])).toEqual([
      'middle',
      'short',
      'urgent',
      'old',
      'young',
    ]);
    expect(order([...tasks, [claim('head'), worker]])).toEqual(['short', 'urgent', 'old', 'young']);
    expect(order([...tasks, [claim('head'), worker], [release('head'), session('s1', 'head')]])[0]).toBe('head');
  });

  it('counts open tasks only: a done task makes no chain longer', () => {
    const tasks: Step[] = [
      [create('A'), operator],
      [create('B'), operator],
      [create('C', { after: ['B'] }), operator],
    ];
    expect(order(tasks)).toEqual(['B', 'A']);
    expect(order([...tasks, [operate('waive', 'x', 'C'), operator]])).toEqual(['A', 'B']);
    expect(
      order([...tasks, [operate('waive', 'x', 'C'), operator], [operate('reinstate', 'x', 'C'), operator]]),
    ).toEqual(['B', 'A']);
  });

  it('notices a new dependency between old tasks', () => {
    const story = createStory(OPEN);
    const ready = trackReadyTasks(story.state, OPEN);
    const say = follow(story, ready);
    for (const id of ['A', 'B', 'C']) say(create(id), operator);
    expect(ids(ready.first(story.state, 9))).toEqual(['A', 'B', 'C']);
    say(depend('A', 'C'), operator);
    expect(ids(ready.first(story.state, 9))).toEqual(['C', 'B']);
  });

  it('returns as many as requested', () => {
    const { state } = given(['A', 'B', 'C'].map((id): Step => [create(id), operator]));
    const ready = trackReadyTasks(state, OPEN);
    expect(ids(ready.first(state, 2))).toEqual(['A', 'B']);
    expect(ids(ready.first(state, 0))).toEqual([]);
  });
});

function follow(story: Story, ready: ReadyTasks): Story['say'] {
  return (command, caller) => {
    const before = story.entries.length;
    story.say(command, caller);
    for (const entry of story.entries.slice(before)) ready.note(story.state, entry);
  };
}

describe('a hundred thousand tasks', () => {
  const COUNT = 100_000;

  // Both are measured in one run, so that a busy machine slows both down.
  it('a query after small changes takes less than a hundredth of the time of computing the order again', () => {
    const story = createStory(OPEN);
    for (let i = 0; i < COUNT; i += 1)
      story.say(
        create(`t${i}`, { priority: i % 7, after: i % 10 < 5 && i > 100 ? [`t${i - 1 - (i % 10)}`] : [] }),
        operator,
      );
    const ready = trackReadyTasks(story.state, OPEN);
    const say = follow(story, ready);
    const [asking, computing]: [number[], number[]] = [[], []];
    for (let i = 0; i < 600; i += 1) {
      const [firstMs, first] = timed(() => ready.first(story.state, 10));
      const id = first[0]?.id ?? '';
      say(claim(id, `s${i}`), worker);
      const [nextMs, next] = timed(() => ready.first(story.state, 10));
      expect([next.length, ids(next).includes(id)]).toEqual([10, false]);
      asking.push(firstMs + nextMs);
      say(operate('waive', 'x', id), operator);
      if (i % 200 !== 0) continue;
      const [computedMs, computed] = timed(() => trackReadyTasks(story.state, OPEN).first(story.state, 10));
      expect(ids(computed)).toEqual(ids(ready.first(story.state, 10)));
      computing.push(computedMs);
    }
    // The times are about 0.1 ms and 300 ms.
    expect(medianOf(asking) / medianOf(computing)).toBeLessThan(0.01);
  });

  it('a task on which all others depend makes them ready at once', () => {
    const story = createStory(OPEN);
    story.say(create('hub'), operator);
    for (let i = 0; i < 20_000; i += 1) story.say(create(`t${i}`, { after: ['hub'] }), operator);
    const ready = trackReadyTasks(story.state, OPEN);
    const say = follow(story, ready);
    expect(ids(ready.first(story.state, 10))).toEqual(['hub']);
    say(operate('waive', 'x', 'hub'), operator);
    expect(ids(ready.first(story.state, 3))).toEqual(['t0', 't1', 't2']);
    say(operate('reinstate', 'x', 'hub'), operator);
    expect(ids(ready.first(story.state, 3))).toEqual(['hub']);
  });
});

function timed<T>(run: () => T): [ms: number, result: T] {
  const began = performance.now();
  const result = run();
  return [performance.now() - began, result];
}

function medianOf(durations: readonly number[]): number {
  return durations.toSorted((a, b) => a - b)[durations.length >> 1] ?? Number.NaN;
}
