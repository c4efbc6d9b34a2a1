import { describe, expect, it } from 'vitest';
import type { AgentPlan, BudgetPlan } from '../protocol/run-plan.ts';
import type { Rules } from '../state/rules.ts';
import * as runs from '../state/runs/say.cases.ts';
import { standingOf } from '../state/runs/standing.ts';
import * as say from '../state/say.cases.ts';
import { Play } from './play.cases.ts';

const HOUR = 3_600_000;

/** A running standalone agent. */
function working(budget: BudgetPlan, rules: Partial<Rules> = {}, plan: Partial<AgentPlan> = {}): Play {
  const play = new Play(rules);
  return start(play, 'a1', { budget, ...plan });
}

function start(play: Play, id: string, plan: Partial<AgentPlan> = {}): Play {
  return play.order(runs.startAgent(runs.agentPlan(plan), id)).say(runs.started(id));
}

function use(play: Play, tokens: number, id = 'a1', more: Parameters<typeof runs.used>[2] = {}): Play {
  return play.say(runs.used(play.agent(id), tokens, more), runs.supervisor(id));
}

describe('a budget of tokens', () => {
  it('warns once, at 80 %', () => {
    const play = use(working({ tokens: 100 }), 79);
    expect(play.count('BudgetWarned')).toBe(0);
    use(play, 1);
    expect(play.newest('BudgetWarned')).toMatchObject({ measure: 'tokens', used: 80, limit: 100 });
    expect(play.newest('NotificationRequested')).toMatchObject({
      kind: 'warning',
      title: 'Budget of agent coder: 80 % used',
      message: '80 of 100 tokens',
    });
    use(play, 10);
    expect([play.count('BudgetWarned'), play.agent().parked]).toEqual([1, null]);
  });

  it('parks the agent with one decision when it is exhausted, and continues it once raised', () => {
    const play = use(use(working({ tokens: 100 }), 90), 30);
    expect(play.seen()).toMatchObject({ agent: 'escalated', asked: 'budget: budget: 120 of 100 tokens' });
    expect(play.decision()).toMatchObject({ source: 'budget', title: 'Budget is used up: agent coder', agentId: 'a1' });
    expect(play.decision().options.map(({ label, action }) => [action, label])).toEqual([
      ['approve', 'Raise the budget to 200 tokens'],
      ['done', 'Mark as done'],
      ['cancel', 'Cancel the waiting work'],
    ]);
    // The turn in progress ends.
    use(play, 5);
    expect(play.count('DecisionOpened')).toBe(1);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent().parked).toBeNull();
    expect(play.the('MessageRequested')).toMatchObject({ wakes: true, text: 'Continue where you stopped.' });
    use(play, 30);
    expect([play.agent().parked, play.count('BudgetWarned')]).toEqual([null, 1]);
    use(play, 50);
    expect([play.seen().agent, play.count('DecisionOpened')]).toEqual(['escalated', 2]);
    play.checkReplay();
  });

  it('is raised by as many times its amount as needed if it was overspent by far', () => {
    const play = use(working({ tokens: 10 }), 75);
    expect(play.decision().options[0]?.label).toBe('Raise the budget to 80 tokens');
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent().parked).toBeNull();
  });

  it.each([
    [2, 'done'],
    [3, 'cancelled'],
  ] as const)('option %d ends the run as %s', (option, outcome) => {
    const play = use(working({ tokens: 10 }), 10);
    play.order(runs.resolve(play.decision().id, option));
    expect(play.agent('a1').outcome).toBe(outcome);
  });

  it('does not stop an attached agent, and asks when the person detaches', () => {
    const play = working({ tokens: 100 });
    play.order(runs.attach('a1')).say(runs.exited('a1', { code: 143 }));
    play.say(runs.started('a1', 2)).say(runs.attached('a1', 2), runs.supervisor('a1'));
    use(play, 120);
    expect([play.agent().parked, play.count('DecisionOpened')]).toEqual([null, 0]);
    play.say(runs.detached('a1', 2, true), runs.supervisor('a1')).say(runs.exited('a1', { start: 2 }));
    expect(play.seen()).toMatchObject({ agent: 'escalated', asked: 'budget: budget: 120 of 100 tokens' });
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent()).toMatchObject({ parked: null, process: 'wanted', start: 3 });
    play.checkReplay();
  });

  it('does not keep an agent from signalling completion and exiting', () => {
    const play = use(working({ tokens: 10 }), 10);
    expect(standingOf(play.state, 'a1', false).is_held).toBe(true);
    play.say(runs.signal('complete', 'a1'), runs.agent('a1'));
    expect(standingOf(play.state, 'a1', false)).toEqual({
      at: play.state.seq,
      has_signalled: true,
      is_owned: false,
      is_parked: true,
      missing: [],
    });
    expect(play.agent('a1').outcome).toBe('done');
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn' });
  });

  it('resumes an exited agent in a new process of the same conversation', () => {
    const play = use(working({ tokens: 10 }), 10).say(runs.exited('a1'));
    expect(play.agent('a1')).toMatchObject({ process: 'gone', outcome: null });
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.theStart()).toMatchObject({ start: 2 });
    expect(play.agent('a1').resume?.message).toBe('Continue where you stopped.');
  });

  it('delivers the message of the person', () => {
    const play = use(working({ tokens: 10 }), 10);
    play.order(runs.resolve(play.decision().id, 1, 'Be brief.'));
    const { wakes = false, text } = play.the('MessageRequested');
    expect({ wakes, text }).toEqual({ wakes: false, text: 'Be brief.' });
  });
});

describe('a budget of money', () => {
  const prices = [{ model: 'known-*', input: 1_000_000, output: 2_000_000, cached: 0 }];

  it('counts the cost that the client reports', () => {
    const play = use(working({ cost_millicents: 100 }), 1, 'a1', { cost_millicents: 100 });
    expect(play.seen().asked).toBe('budget: budget: $0.001 of $0.001');
  });

  it('uses the prices of the runbook if the client reports no cost', () => {
    const play = use(working({ cost_millicents: 100 }, { prices }), 99);
    expect([play.agent('a1').usage?.cost_millicents, play.agent('a1').parked]).toEqual([99, null]);
    use(play, 1);
    expect(play.seen().agent).toBe('escalated');
  });

  it('warns once that it cannot be enforced if the price is unknown', () => {
    const play = working({ cost_millicents: 100 }, { prices });
    use(use(play, 50, 'a1', { model: 'strange' }), 50, 'a1', { model: 'strange' });
    expect(play.count('BudgetUnpriced')).toBe(1);
    expect(play.newest('NotificationRequested').message).toContain('model strange');
    expect(play.agent('a1').usage).toMatchObject({ cost_millicents: null, unpriced_tokens: 100 });
  });

  it('prices the use of an attached person by the runbook if the client reports no cost', () => {
    const theirs = { cost_millicents: 40, open_input_tokens: 50, unpriced_tokens: 50 };
    const play = use(working({ cost_millicents: 200 }, { prices }), 90, 'a1', theirs);
    expect(play.agent('a1').usage).toMatchObject({ cost_millicents: 90, unpriced_tokens: 0 });
    const unknown = use(working({ cost_millicents: 200 }), 90, 'a1', theirs);
    expect(unknown.agent('a1').usage).toMatchObject({ cost_millicents: 40, unpriced_tokens: 50 });
    expect(unknown.count('BudgetUnpriced')).toBe(1);
  });

  it('warns only at the end of the turn, because the client may report the cost then', () => {
    const play = working({ cost_millicents: 100 });
    use(play, 50, 'a1', { open_input_tokens: 50 });
    expect(play.count('BudgetUnpriced')).toBe(0);
    use(play, 0, 'a1', { cost_millicents: 40 });
    expect(play.agent('a1').usage).toMatchObject({ cost_millicents: 40, unpriced_tokens: 0 });
  });
});

describe('a budget of time', () => {
  it('is checked when it may be exhausted, and does not count waiting', () => {
    const play = working({ time_ms: HOUR });
    expect(play.the('TimerSet')).toMatchObject({ due: '2026-01-01T00:48:00.000Z', purpose: { kind: 'budget' } });
    play.wait(0.5 * HOUR).say(runs.signal('escalate', 'a1', 'help'), runs.agent('a1'));
    play.wait(5 * HOUR).order(runs.resolve(play.decision().id, 1));
    expect(play.agent('a1')).toMatchObject({ workMs: 0.5 * HOUR, waitMs: 5 * HOUR });
    // The first timer is overdue but time is left, so a new one is set.
    for (const { timer_id: timerId } of play.owed('TimerSet')) play.say(runs.fire(timerId));
    expect(play.the('TimerSet').due).toBe('2026-01-01T05:48:00.000Z');
    play.wait(0.3 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.newest('BudgetWarned')).toMatchObject({ measure: 'time', used: 0.8 * HOUR });
    play.wait(0.2 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.seen().asked).toBe('budget: budget: 1h of 1h');
    play.checkReplay();
  });

  it('is spent in parallel by all agents that work', () => {
    const play = start(start(new Play({ budgets: { day: { time_ms: HOUR } } }), 'a1'), 'a2');
    expect(play.the('TimerSet').due).toBe('2026-01-01T00:24:00.000Z');
    play.wait(0.4 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.count('BudgetWarned')).toBe(1);
    play.wait(0.1 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.owed('TimerSet').map(({ purpose }) => purpose.kind)).toEqual(['day']);
    expect(['a1', 'a2'].map((id) => play.agent(id).parked)).toEqual([play.decision().id, play.decision().id]);
  });

  it('is still enforced if the clock is set back', () => {
    const play = working({ time_ms: HOUR });
    use(play.wait(-10 * HOUR), 1);
    expect(play.owed('TimerSet').map(({ due }) => due)).toEqual(['2025-12-31T14:48:00.000Z']);
    play.wait(0.8 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.count('BudgetWarned')).toBe(1);
    play.wait(0.2 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.decision().title).toBe('Budget is used up: agent coder');
    play.checkReplay();
  });

  it('of a day starts again for an agent that works past midnight', () => {
    const play = working({}, { budgets: { day: { time_ms: 30 * HOUR } } });
    play.wait(24 * HOUR).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.count('BudgetWarned')).toBe(0);
    expect(play.the('TimerSet').due).toBe('2026-01-03T00:00:00.000Z');
  });

  it('is no longer checked when the run is over', () => {
    const play = working({ time_ms: HOUR }).say(runs.signal('complete', 'a1'), runs.agent('a1')).say(runs.exited('a1'));
    expect(play.owed('TimerSet')).toEqual([]);
  });
});

describe('a budget that several agents share', () => {
  const rules = { budgets: { day: { tokens: 100 } } };

  it('parks all of them with one decision, and its answer continues all', () => {
    const play = start(start(new Play(rules), 'a1'), 'a2');
    use(use(play, 60, 'a1'), 60, 'a2');
    const { id } = play.decision();
    expect([play.agent('a1').parked, play.agent('a2').parked]).toEqual([id, id]);
    // The turns in progress report their use, but no second decision is opened.
    use(use(play, 10, 'a1'), 10, 'a2');
    expect(play.count('DecisionOpened')).toBe(1);
    play.order(runs.resolve(id, 1));
    expect([play.agent('a1').parked, play.agent('a2').parked]).toEqual([null, null]);
    expect(play.owed('MessageRequested')).toHaveLength(2);
    play.checkReplay();
  });

  it('holds agents that start later, for the same decision', () => {
    const play = use(start(new Play(rules), 'a1'), 100);
    play.order(runs.startAgent(runs.agentPlan(), 'a2'));
    expect(play.agent('a2')).toMatchObject({ process: 'wanted', parked: play.decision().id });
    expect(play.count('DecisionOpened')).toBe(1);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent('a2').parked).toBeNull();
    expect(play.starts()).toHaveLength(1);
  });

  it('opens a decision also if the agent that used it has exited', () => {
    const play = start(new Play(rules), 'a1').say(runs.signal('complete', 'a1'), runs.agent('a1'));
    use(play, 200);
    expect(play.count('DecisionOpened')).toBe(0);
    play.order(runs.startAgent(runs.agentPlan(), 'a2'));
    expect(play.agent('a2').parked).toBe(play.decision().id);
  });

  it('of a day is released by the next day', () => {
    const play = use(start(new Play(rules), 'a1'), 100);
    const timer = play.the('TimerSet');
    expect(timer.due).toBe('2026-01-02T00:00:00.000Z');
    play.wait(24 * HOUR).say(runs.fire(timer.timer_id));
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn', reason: 'a new day has begun' });
    expect(play.agent('a1').parked).toBeNull();
    use(play, 50);
    expect(play.agent('a1').parked).toBeNull();
    play.checkReplay();
  });

  it("of a day is released also if the next day's budget was reported before", () => {
    const play = use(start(new Play(rules), 'a1'), 100);
    const { timer_id: timerId } = play.the('TimerSet');
    // The turn in progress reports its use late.
    use(play.wait(24 * HOUR), 85);
    expect(play.newest('BudgetWarned').scope.id).toBe('2026-01-02');
    play.say(runs.fire(timerId));
    expect([play.agent('a1').parked, play.decision().result?.kind]).toEqual([null, 'withdrawn']);
  });

  it('of a day opens one decision even if the clock moves to the next day and back', () => {
    const play = start(use(start(new Play(rules), 'a1'), 100), 'a2');
    use(play.wait(24 * HOUR), 85);
    expect(play.newest('BudgetWarned').scope.id).toBe('2026-01-02');
    play.wait(-24 * HOUR).order(runs.startAgent(runs.agentPlan(), 'a3'));
    expect(play.count('DecisionOpened')).toBe(1);
    expect(play.agent('a3').parked).toBe(play.decision().id);
  });

  it('parks an agent again that another answer continued, and keeps its messages', () => {
    const play = start(start(new Play(rules), 'a1'), 'a2');
    play.say(runs.signal('escalate', 'a1', 'help'), runs.agent('a1'));
    const first = play.decision().id;
    use(play, 100, 'a2');
    play.order(runs.resolve(first, 1, 'Do this.'));
    expect(play.agent('a1').parked).toBe(play.decision().id);
    expect(play.the('MessageRequested').text).toBe('Do this.');
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent('a1').parked).toBeNull();
  });

  it('keeps its decision open if one of them ends', () => {
    const play = start(start(new Play(rules), 'a1'), 'a2');
    use(play, 100).order(runs.kill('a1'));
    expect(play.decision().result).toBeNull();
    expect(play.agent('a2').parked).toBe(play.decision().id);
  });
});

describe('a budget of a pipeline', () => {
  const plan = runs.pipelinePlan([runs.agentStep('one'), runs.agentStep('two')], { budget: { tokens: 100 } });

  it('covers all its steps: the next one waits', () => {
    const play = new Play().order(runs.startPipeline(plan));
    const one = play.agent().id;
    play.say(runs.started(one));
    use(play, 70, one).say(runs.signal('complete', one), runs.agent(one));
    use(play, 40, one).say(runs.exited(one));
    // The first agent's turn in progress exhausted the budget before the second agent started.
    expect(play.agent()).toMatchObject({ process: 'wanted', parked: play.decision().id });
    expect(play.seen()).toMatchObject({ pipeline: 'waiting', agent: 'escalated' });
    play.order(runs.resume('p1'));
    expect(play.seen().pipeline).toBe('running');
    expect(play.newest('BudgetRaised')).toEqual({ scope: { kind: 'pipeline', id: 'p1' }, raises: 1 });
  });

  it('withdraws its decision when the pipeline has ended', () => {
    const play = new Play().order(runs.startPipeline(plan));
    const { id } = play.agent();
    use(play.say(runs.started(id)), 100, id).order(runs.cancel('p1'));
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn' });
  });
});

describe('a budget of a task', () => {
  const worker = {
    name: 'w',
    concurrency: 2,
    plan: { kind: 'agent', agent: runs.agentPlan({ requires: [] }) },
  } as const;

  function spent(): Play {
    const play = new Play({ budgets: { task: { tokens: 10 } } })
      .order(say.create('T1'))
      .order(runs.configure([worker]));
    const { id, task } = play.agent();
    play.say(runs.started(id));
    play.say(say.release('T1'), say.session(id, 'T1', task?.epoch ?? 0));
    return play;
  }

  it('keeps workers from claiming it, with one decision', () => {
    const play = spent();
    const second = play.agent();
    play.say(runs.started(second.id));
    use(play, 10, second.id);
    expect(play.decision()).toMatchObject({ source: 'budget', taskId: 'T1', agentId: null });
    play.say(say.release('T1'), say.session(second.id, 'T1', second.task?.epoch ?? 0));
    expect(play.count('AgentRequested')).toBe(2);
    play.order(say.create('T2'));
    expect(play.agent().task?.task_id).toBe('T2');
    expect(play.count('DecisionOpened')).toBe(1);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent().task?.task_id).toBe('T1');
  });

  it('keeps its decision if the task is blocked and unblocked, because agents wait for the answer', () => {
    const play = spent();
    const second = play.agent();
    play.say(runs.started(second.id));
    use(play, 10, second.id);
    play.say(say.release('T1'), say.session(second.id, 'T1', second.task?.epoch ?? 0));
    const about = { id: 'T1', reason: 'look first' } as const;
    play.order(say.update('blocked', { task_id: 'T1', notes: 'look first' }));
    play.order({ kind: 'operate-task', command: { ...about, action: 'unblock' } });
    expect([play.decision().result, play.count('DecisionWithdrawn')]).toEqual([null, 0]);
  });

  it('blocks the task if it is not raised', () => {
    const play = spent();
    const second = play.agent();
    play.say(runs.started(second.id));
    use(play, 10, second.id);
    play.say(say.release('T1'), say.session(second.id, 'T1', second.task?.epoch ?? 0));
    play.order(runs.resolve(play.decision().id, 3));
    expect(play.state.tasks.get('T1')?.phase).toBe('BLOCKED');
    expect(play.count('DecisionOpened')).toBe(1);
  });
});

describe('workers on a day whose budget is exhausted', () => {
  it('open one decision, wait, and start on the next day', () => {
    const play = use(start(new Play({ budgets: { day: { tokens: 10 } } }), 'a1'), 20);
    play.order(runs.resolve(play.decision().id, 2));
    const plan = { kind: 'agent', agent: runs.agentPlan({ requires: [] }) } as const;
    play.order(say.create('T1')).order(runs.configure([{ name: 'w', concurrency: 1, plan }]));
    expect([play.count('AgentRequested'), play.count('DecisionOpened')]).toEqual([1, 1]);
    const day = play.owed('TimerSet').find(({ purpose }) => purpose.kind === 'day');
    play.wait(24 * HOUR).say(runs.fire(day?.timer_id ?? ''));
    expect(play.agent().task?.task_id).toBe('T1');
  });
});
