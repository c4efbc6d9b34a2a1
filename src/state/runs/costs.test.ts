import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import { ACCOUNTS } from './accounts.ts';
import { listCosts } from './costs.ts';
import * as runs from './say.cases.ts';
import { splitByDay, NO_SPENDING, addSpending } from './spent.ts';

const HOUR = 3_600_000;

describe('what was used', () => {
  it('is the same for every kind of account, even while agents work over midnight', () => {
    const play = new Play();
    play.order(runs.startPipeline()).wait(20 * HOUR);
    const first = play.agent().id;
    play.say(runs.started(first)).wait(HOUR);
    play.say(runs.used(play.agent(first), 100, { cost_millicents: 7, output_tokens: 5 }));
    play
      .order(runs.startAgent(runs.agentPlan({ name: 'tester' }), 'a2'))
      .say(runs.started('a2'))
      .wait(8 * HOUR);
    play.say(runs.used(play.agent('a2'), 10, { model: 'other', waiting_tokens: 3 }));
    const sums = ACCOUNTS.map((by) =>
      listCosts(play.state, by, play.rules, play.at).reduce((sum, { spent }) => addSpending(sum, spent), NO_SPENDING),
    );
    expect(new Set(sums.map((sum) => JSON.stringify(sum))).size).toBe(1);
    expect(sums[0]).toMatchObject({ input_tokens: 110, output_tokens: 5, work_ms: 17 * HOUR, waiting_tokens: 3 });
    const days = listCosts(play.state, 'day', play.rules, play.at);
    expect(days.map(({ name, spent }) => [name, spent.work_ms / HOUR, spent.input_tokens])).toEqual([
      ['2026-01-01', 7, 100],
      ['2026-01-02', 10, 10],
    ]);
    expect(listCosts(play.state, 'pipeline', play.rules, play.at).map(({ name }) => name)).toEqual(['main', null]);
    expect(listCosts(play.state, 'model', play.rules, play.at).map(({ name }) => name)).toEqual(['known-1', 'other']);
  });

  it('counts time waiting for a person separately', () => {
    const play = new Play().order(runs.startAgent()).say(runs.started('a1')).wait(HOUR);
    play.say(runs.signal('escalate', 'a1', 'help'), runs.agent('a1')).wait(2 * HOUR);
    const [row] = listCosts(play.state, 'agent', play.rules, play.at);
    expect(row?.spent).toMatchObject({ work_ms: HOUR, wait_ms: 2 * HOUR });
  });

  it('shows the most used budget', () => {
    const play = new Play({ budgets: { day: { tokens: 1000, time_ms: 10 * HOUR } } });
    play.order(runs.startAgent(runs.agentPlan({ budget: { tokens: 200 } }))).say(runs.started('a1'));
    play.say(runs.used(play.agent(), 100)).wait(5 * HOUR);
    expect(listCosts(play.state, 'agent', play.rules, play.at)[0]?.budget).toMatchObject({ used: 100, limit: 200 });
    expect(listCosts(play.state, 'day', play.rules, play.at)[0]?.budget).toMatchObject({
      measure: 'time',
      used: 5 * HOUR,
    });
  });
});

describe('the days of an interval', () => {
  it('are those of UTC, each with its part', () => {
    expect(splitByDay('2026-01-01T23:00:00.000Z', '2026-01-03T01:00:00.000Z')).toEqual([
      { day: '2026-01-01', ms: HOUR },
      { day: '2026-01-02', ms: 24 * HOUR },
      { day: '2026-01-03', ms: HOUR },
    ]);
    expect(splitByDay('2026-01-02T00:00:00.000Z', '2026-01-01T00:00:00.000Z')).toEqual([]);
  });
});
