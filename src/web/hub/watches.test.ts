import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../api/answer.ts';
import type { HubCall, Loaded, Query } from './messages.ts';
import { Watches } from './watches.ts';

const QUERY: Query = { kind: 'api', project: 'p', operation: 'status_get', input: {}, on: 'all' };
const TASK: Query = { ...QUERY, operation: 'task_view', on: 'task:A' };

let nowMs: number;
let timers: { readonly atMs: number; readonly run: () => void }[];
let calls: HubCall[];
let next: Answer;
let watches: Watches;

beforeEach(() => {
  [nowMs, timers, calls] = [10_000, [], []];
  next = { ok: true, result: 1 };
  watches = new Watches({
    call: async (call) => {
      calls.push(call);
      return next;
    },
    look: () => ({}),
    now: () => nowMs,
    after: (ms, run) => void timers.push({ atMs: nowMs + ms, run }),
  });
});

/** Advances the clock and runs everything that is due. */
async function pass(ms: number): Promise<void> {
  nowMs += ms;
  const due = timers.filter(({ atMs }) => atMs <= nowMs);
  timers = timers.filter(({ atMs }) => atMs > nowMs);
  for (const { run } of due) run();
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

function follow(query: Query): { readonly seen: Loaded<unknown>[]; readonly end: () => void } {
  const seen: Loaded<unknown>[] = [];
  return { seen, end: watches.follow(query, (loaded) => seen.push(loaded)) };
}

describe('what tabs watch', () => {
  it('sends one request for equal queries of two tabs', async () => {
    const [one, two] = [follow(QUERY), follow(QUERY)];
    await pass(0);
    expect(calls).toHaveLength(1);
    expect([one.seen, two.seen]).toEqual([[{ value: 1, at: 10_000 }], [{ value: 1, at: 10_000 }]]);
    expect(follow(QUERY).seen).toEqual([{ value: 1, at: 10_000 }]);
  });

  it('notifies a tab only of changes', async () => {
    const { seen } = follow(QUERY);
    await pass(0);
    watches.changed('p', new Set(['all']));
    await pass(1000);
    expect([calls.length, seen.length]).toEqual([2, 1]);
    next = { ok: true, result: 2 };
    watches.changed('p', new Set(['all']));
    await pass(1000);
    expect(seen.map(({ value }) => value)).toEqual([1, 2]);
  });

  it('sends at most one request per interval, however many entries arrive, and always one after the last', async () => {
    follow(QUERY);
    await pass(0);
    for (let n = 0; n < 100; n += 1) watches.changed('p', new Set(['all']));
    await pass(100);
    expect(calls).toHaveLength(1);
    await pass(400);
    expect(calls).toHaveLength(2);
    await pass(400);
    expect(calls).toHaveLength(2);
  });

  it('repeats a request only after an entry about it', async () => {
    follow(TASK);
    await pass(0);
    watches.changed('p', new Set(['all', 'task:B']));
    watches.changed('other', new Set(['all', 'task:A']));
    await pass(1000);
    expect(calls).toHaveLength(1);
    watches.changed('p', new Set(['all', 'task:A']));
    await pass(1000);
    expect(calls).toHaveLength(2);
  });

  it('keeps the last value beside an error', async () => {
    const { seen } = follow(QUERY);
    await pass(0);
    next = { ok: false, error: { code: 'no-answer', message: 'm', hint: 'h' } };
    watches.refreshAll();
    await pass(1000);
    expect(seen.at(-1)).toEqual({ value: 1, at: 10_000, error: { code: 'no-answer', message: 'm', hint: 'h' } });
  });

  it('repeats a failed request, even without an entry, until it succeeds', async () => {
    next = { ok: false, error: { code: 'project-busy', message: 'm', hint: 'h' } };
    const { seen, end } = follow(QUERY);
    await pass(0);
    await pass(3000);
    expect(calls).toHaveLength(2);
    next = { ok: true, result: 1 };
    await pass(3000);
    expect(seen.map(({ value }) => value)).toEqual([undefined, 1]);
    await pass(30_000);
    expect(calls).toHaveLength(3);
    end();
  });

  it('sends no requests without a subscriber', async () => {
    const { end } = follow({ ...QUERY, everyMs: 1000 });
    await pass(0);
    end();
    await pass(5000);
    watches.changed('p', new Set(['all']));
    await pass(5000);
    expect(calls).toHaveLength(1);
  });
});
