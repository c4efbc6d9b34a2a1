import { describe, expect, it } from 'vitest';
import { Play } from './play.cases.ts';
import * as runs from '../state/runs/say.cases.ts';

/** A report at a tool call. It is recorded only if the use crosses a step of a budget. */
const AT_TOOL = { is_due: false, reserved_input_tokens: 0 };

function at(play: Play, tokens: number, more: Parameters<typeof runs.used>[2] = AT_TOOL, id = 'a1'): Play {
  const before = play.agent(id);
  const known = before.usage?.input_tokens ?? 0;
  return play.say(runs.used(before, tokens - known, more), runs.supervisor(id));
}

function working(tokens?: number, ids: readonly string[] = ['a1'], rules = {}): Play {
  const play = new Play(rules);
  const plan = runs.agentPlan(tokens === undefined ? {} : { budget: { tokens } });
  for (const id of ids) play.order(runs.startAgent(plan, id)).say(runs.started(id));
  return play;
}

describe('a report of usage at a tool', () => {
  it('is recorded in steps of 5 % of the budget', () => {
    const play = at(working(10_000), 10, { is_due: true });
    for (let used = 20; used < 5000; used += 10) at(play, used);
    expect(play.count('SessionUsed')).toBe(10);
  });

  it('is recorded in smaller steps when little is left, so that the budget stops the next request', () => {
    const play = working(10_000);
    let used = 0;
    while (play.agent().parked === null) at(play, (used += 10));
    expect(used).toBe(10_000);
    expect(play.count('SessionUsed')).toBeLessThan(40);
  });

  it('is never recorded without a budget, until a turn ends or the entry is due', () => {
    const play = at(working(), 10, { is_due: true });
    for (let used = 20; used < 100_000; used += 1000) at(play, used);
    expect(play.count('SessionUsed')).toBe(1);
    at(play, 100_000, { is_due: true });
    at(play, 100_010, { ...AT_TOOL, turns: 1 });
    expect(play.count('SessionUsed')).toBe(3);
  });

  it('of several agents that share a budget is recorded in time, so that unreported use cannot overspend it', () => {
    const ids = ['a1', 'a2', 'a3', 'a4'];
    const play = working(undefined, ids, { budgets: { day: { tokens: 100_000 } } });
    const say = (id: string, tokens: number): void => {
      const { usage } = play.agent(id);
      const more = { ...AT_TOOL, input_tokens: tokens };
      const command = runs.used({ id, usage }, 0, more);
      if (command.kind !== 'report-agent') throw new Error();
      play.say({ ...command, command: { ...command.command, at: play.at } }, runs.supervisor(id));
    };
    let real = 0;
    for (let round = 1; play.count('DecisionOpened') === 0; round += 1) {
      for (const id of ids) say(id, round * 100);
      real = round * 400;
    }
    expect(real).toBeLessThanOrEqual(100_000 + ids.length * 100);
    expect(play.count('SessionUsed')).toBeLessThan(200);
  });

  it('reserves for a request in progress as much as the largest request of the run', () => {
    const underWay = { is_due: false, reserved_input_tokens: 1000 };
    const play = at(working(10_000), 8000, underWay);
    expect(play.agent().parked).toBeNull();
    at(play, 9000, underWay);
    expect(play.decision().context).toMatch(/^9,000 of 10,000 tokens; a request in progress counts as 1,000\n/);
    expect(play.decision().options[0]?.label).toBe('Raise the budget to 20,000 tokens');
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent().parked).toBeNull();
    play.checkReplay();
  });

  it('reserves nothing for an agent whose process has exited', () => {
    const play = working(10_000, ['a1'], {});
    const plan = runs.agentPlan({ budget: { tokens: 10_000 }, on_dead: { action: 'resume' } });
    play.order(runs.startAgent(plan, 'a2')).say(runs.started('a2'));
    at(play, 6000, { is_due: true, reserved_input_tokens: 3000 }, 'a2');
    play.say(runs.exited('a2', { code: 1 })).say(runs.started('a2', 2));
    expect(play.agent('a2').parked).toBeNull();
    at(play, 6500, { is_due: true }, 'a2');
    expect(play.agent('a2').parked).toBeNull();
    const shared = working(undefined, ['a1', 'a2'], { budgets: { day: { tokens: 10_000 } } });
    at(shared, 3000, { is_due: true, reserved_input_tokens: 3000 });
    shared.say(runs.exited('a1', { code: 1 }));
    expect(shared.agent('a1')).toMatchObject({ process: 'gone', outcome: null });
    at(shared, 4500, { is_due: true }, 'a2');
    expect(shared.agent('a2').parked).toBeNull();
  });

  it('prices the request in progress', () => {
    const prices = [{ model: 'known-1', input: 100_000, output: 100_000, cached: 100_000 }];
    const play = new Play({ prices });
    const plan = runs.agentPlan({ budget: { cost_millicents: 1000 } });
    play.order(runs.startAgent(plan, 'a1')).say(runs.started('a1'));
    at(play, 8000, { is_due: false, reserved_input_tokens: 2000 });
    expect(play.newest('SessionUsed')).toMatchObject({ cost_millicents: 800, reserved_millicents: 200 });
    expect(play.decision().context).toContain('$0.008 of $0.01; a request in progress counts as $0.002');
  });
});
