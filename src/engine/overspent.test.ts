import { describe, expect, it } from 'vitest';
import * as runs from '../state/runs/say.cases.ts';
import { findPipelineDecision, overallPipelineStatus } from '../state/runs/steer-pipeline.ts';
import { Play } from './play.cases.ts';

function use(play: Play, tokens: number, more: Parameters<typeof runs.used>[2] = {}): Play {
  const { id } = play.agent();
  return play.say(runs.used(play.agent(id), tokens, more), runs.supervisor(id));
}

function complete(play: Play): Play {
  return play.say(runs.signal('complete'), runs.agent(play.agent().id));
}

function alone(tokens = 100): Play {
  return new Play().order(runs.startAgent(runs.agentPlan({ budget: { tokens } }), 'a1')).say(runs.started('a1'));
}

describe('a run that overspent', () => {
  it('opens a decision when its process has exited and its last request is known', () => {
    const play = use(complete(use(alone(), 90)), 150);
    expect(play.count('DecisionOpened')).toBe(0);
    play.say(runs.exited('a1'));
    expect(play.agent()).toMatchObject({ outcome: 'done', process: 'gone' });
    expect(play.decision()).toMatchObject({
      source: 'budget',
      title: 'Budget was overspent: agent coder',
      context: '240 of 100 tokens\nThe run has ended as done.',
      agentId: 'a1',
    });
    expect(play.decision().options.map(({ action }) => action)).toEqual(['done']);
    expect(play.owed('NotificationRequested').at(-1)).toMatchObject({
      kind: 'attention',
      decision_id: play.decision().id,
    });
    play.order(runs.resolve(play.decision().id, 1));
    // A late report opens no second decision.
    use(play, 10);
    expect(play.count('DecisionOpened')).toBe(1);
    play.checkReplay();
  });

  it('is compared with its raised budget, and not at all if a person ended it', () => {
    const raised = use(alone(), 120);
    raised.order(runs.resolve(raised.decision().id, 1));
    use(complete(raised), 50).say(runs.exited('a1'));
    expect(raised.count('DecisionOpened')).toBe(1);
    const ended = use(alone(), 120);
    ended.order(runs.resolve(ended.decision().id, 2));
    use(ended, 50).say(runs.exited('a1'));
    expect(ended.count('DecisionOpened')).toBe(1);
  });

  it('at exactly its budget, or by time alone, opens no decision', () => {
    const play = use(complete(alone()), 100).say(runs.exited('a1'));
    expect(play.count('DecisionOpened')).toBe(0);
    const timed = new Play().order(runs.startAgent(runs.agentPlan({ budget: { time_ms: 1000 } }), 'a1'));
    complete(timed.say(runs.started('a1')).wait(900))
      .wait(500)
      .say(runs.exited('a1'));
    expect(timed.count('DecisionOpened')).toBe(0);
  });
});

describe('a pipeline whose run overspent', () => {
  const plan = (next = runs.shellStep('ship')) =>
    runs.pipelinePlan([runs.agentStep('code'), next], { agents: [runs.agentPlan({ budget: { tokens: 100 } })] });

  it.each([
    ['a command', runs.shellStep('ship'), 'CommandRequested'],
    ['an agent', runs.agentStep('ship'), 'AgentRequested'],
  ] as const)('waits for the answer before it begins %s', (_, next, begun) => {
    const play = new Play().order(runs.startPipeline(plan(next)));
    const { id } = play.agent();
    play.say(runs.started(id));
    use(complete(use(play, 90)), 150).say(runs.exited(id));
    expect(play.types()).not.toContain(begun);
    expect(play.decision()).toMatchObject({ pipelineId: 'p1', agentId: id });
    expect(play.decision().context).toContain('The next steps of the pipeline wait');
    expect(overallPipelineStatus(play.state, play.pipeline())).toBe('waiting');
    expect(findPipelineDecision(play.state, play.pipeline())?.id).toBe(play.decision().id);
    expect(play.order(runs.resolve(play.decision().id, 1)).types()).toContain(begun);
    play.checkReplay();
  });

  it('is cancelled if the person chooses that', () => {
    const play = new Play().order(runs.startPipeline(plan()));
    play.say(runs.started(play.agent().id));
    use(complete(play), 150).say(runs.exited(play.agent().id));
    play.order(runs.resolve(play.decision().id, 2));
    expect(play.pipeline().outcome).toBe('cancelled');
    expect(play.count('CommandRequested')).toBe(0);
  });

  it('ends as done, with a decision, if it overspent its own budget', () => {
    const own = runs.pipelinePlan([runs.agentStep('code')], { budget: { tokens: 100 } });
    const play = new Play().order(runs.startPipeline(own));
    play.say(runs.started(play.agent().id));
    use(complete(use(play, 90)), 150).say(runs.exited(play.agent().id));
    expect(play.pipeline().outcome).toBe('done');
    expect(play.decision()).toMatchObject({ title: 'Budget was overspent: pipeline main', result: null });
  });
});

describe('the next step', () => {
  const nested = { name: 'inner', vars: {}, steps: [runs.agentStep('deep')] };
  const outer = { name: 'outer', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } } as const;

  it('starts when the previous agent has exited, even after a nested pipeline', () => {
    const plan = runs.pipelinePlan([outer, runs.shellStep('after')], { inside: [nested] });
    const play = new Play().order(runs.startPipeline(plan));
    play.say(runs.started(play.agent().id));
    complete(play);
    expect(play.pipeline().step).toMatchObject({ name: 'after', commandId: null });
    expect(play.say(runs.exited(play.agent().id)).types()).toContain('CommandRequested');
  });

  it('is started once, however the previous process exited', () => {
    const plan = runs.pipelinePlan([runs.agentStep('one'), runs.agentStep('two')]);
    const play = new Play().order(runs.startPipeline(plan));
    const first = play.agent().id;
    play.say(runs.started(first));
    complete(play);
    expect(play.count('AgentRequested')).toBe(1);
    play.say(runs.exited(first, { signal: 'SIGKILL', code: null }));
    expect(play.count('AgentRequested')).toBe(2);
    expect(play.say(runs.exited(first)).types()).toEqual([]);
  });
});
