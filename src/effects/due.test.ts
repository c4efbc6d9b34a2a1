import { describe, expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import { event } from '../state/event.ts';
import * as fleet from '../state/fleet/say.cases.ts';
import { given, OPEN, type Step } from '../state/given.cases.ts';
import { isStartEffect, isStopEffect } from '../state/runs/effect.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { askMerge } from '../state/workflow/say.cases.ts';
import { isDue, isTransient, judgeBegun } from './due.ts';
import { RemoteAway } from './travel/remote-away.ts';

/** Returns which of an agent's starts, stops and messages are due. */
function due({ state }: Play): string[] {
  return [...state.effects.values()].flatMap((effect) => {
    const what = isStartEffect(effect) ? 'start' : isStopEffect(effect) ? 'stop' : 'message';
    return 'agent_id' in effect.data && isDue(effect, state) ? [what] : [];
  });
}

function working(): Play {
  return new Play().order(runs.startAgent(runs.agentPlan({ budget: { tokens: 100 } }))).say(runs.started('a1'));
}

function spend(play: Play): Play {
  return play.say(runs.used(play.agent(), 120), runs.supervisor('a1'));
}

describe('a message to an agent', () => {
  it('is sent when its process runs', () => {
    const play = new Play().order(runs.startAgent()).order(runs.send('a1', 'Mind the gap.'));
    expect(due(play)).toEqual(['start']);
    expect(due(play.say(runs.started('a1')))).toEqual(['message']);
  });

  it('waits while the agent is held by a budget', () => {
    const play = spend(working().order(runs.send('a1', 'Mind the gap.')));
    expect(due(play)).toEqual([]);
    expect(due(play.order(runs.resolve(play.decision().id, 1)))).toEqual(['message', 'message']);
  });

  it('delays a start if the budget is exhausted', () => {
    const play = spend(working()).say(runs.exited('a1'));
    play.order(runs.resolve(play.decision().id, 1));
    expect(due(play)).toEqual(['start']);
    play.say(runs.used(play.agent(), 100), runs.supervisor('a1'));
    expect([play.agent().process, due(play)]).toEqual(['wanted', []]);
  });

  it('waits until the attached person has detached', () => {
    const play = working().order(runs.attach('a1')).order(runs.send('a1', 'Mind the gap.'));
    expect(due(play)).toEqual(['stop']);
    expect(due(play.say(runs.exited('a1', { code: 143 })))).toEqual(['start']);
    expect(due(play.say(runs.started('a1', 2)))).toEqual([]);
  });
});

describe('a person who attaches to an agent that is held by a budget', () => {
  it('gets the conversation', () => {
    const play = spend(working()).order(runs.attach('a1'));
    expect(due(play)).toEqual(['stop']);
    play.say(runs.exited('a1', { code: 143 }));
    expect([play.seen().agent, due(play)]).toEqual(['attached', ['start']]);
    play.say(runs.started('a1', 2)).say(runs.attached('a1', 2), runs.supervisor('a1'));
    play.say(runs.detached('a1', 2, true), runs.supervisor('a1')).say(runs.exited('a1', { start: 2 }));
    expect([play.seen().agent, play.decision().result, due(play)]).toEqual(['escalated', null, []]);
    play.order(runs.resolve(play.decision().id, 1));
    expect([play.agent().start, due(play)]).toEqual([3, ['start']]);
    play.checkReplay();
  });

  it('gets the conversation before the first start, and its message is delivered later', () => {
    const play = spend(working()).say(runs.exited('a1'));
    play.order(runs.resolve(play.decision().id, 1, 'Be brief.'));
    play.say(runs.used(play.agent(), 100), runs.supervisor('a1')).order(runs.attach('a1'));
    expect(due(play)).toEqual(['stop']);
    play.say(runs.exited('a1', { start: 2, code: null, signal: 'SIGKILL' }));
    expect([play.agent().start, due(play)]).toEqual([3, ['start']]);
    expect(play.the('MessageRequested').text).toBe('Be brief.');
    play.say(runs.detached('a1', 3, false), runs.supervisor('a1')).say(runs.exited('a1', { start: 3 }));
    play.order(runs.resolve(play.decision().id, 1)).say(runs.started('a1', 4));
    expect(due(play)).toEqual(['message']);
  });
});

describe('a merge', () => {
  const asked = (action: 'retry' | 'dismiss') =>
    event('DecisionOpened', {
      decision_id: 'd1',
      source: 'reconcile',
      title: 'A does not match git',
      context: '',
      options: [{ label: 'x', action, recommended: true }],
      agent_id: null,
      pipeline_id: null,
      task_id: 'A',
    });
  const merging: Step[] = [
    [say.create('A', { phase: 'READY_FOR_MERGE' }), say.operator],
    [say.record(), say.operator],
    [{ kind: 'self-approve', command: { id: 'A', reason: 'alone' } }, say.operator],
    [askMerge('A'), say.operator],
  ];
  const isMergeDue = (steps: readonly Step[]): boolean[] => {
    const { state } = given(steps, { ...OPEN, mergeGate: true });
    return [...state.effects.values()]
      .filter(({ type }) => type === 'MergeRequested')
      .map((effect) => isDue(effect, state));
  };

  it('waits while a decision about the task is open, and continues with the answer', () => {
    const answered = event('DecisionResolved', { decision_id: 'd1', option: 1, action: 'dismiss', message: null });
    expect(isMergeDue(merging)).toEqual([true]);
    expect(isMergeDue([...merging, asked('retry')])).toEqual([false]);
    expect(isMergeDue([...merging, asked('retry'), answered])).toEqual([true]);
    expect(isMergeDue([...merging, asked('dismiss')])).toEqual([true]);
  });
});

describe('a remote that does not answer', () => {
  it('is retried for ten minutes; then the failure is recorded', () => {
    const away = new RemoteAway('no route to host');
    expect([0, 599_999, 600_000].map((hinderedMs) => isTransient(away, hinderedMs))).toEqual([true, true, false]);
    expect(isTransient(new Error('refused'), 0)).toBe(false);
  });
});

describe('a started effect of the caretaker', () => {
  const asked: readonly Step[] = [
    [fleet.found('alpha'), say.system],
    event('NotificationRequested', { notification_id: 'n', kind: 'done', title: 't', message: 'm', decision_id: null }),
  ];

  it('is handed over with the role, and dropped only when no host owes it any more', () => {
    const { state } = given(asked);
    const [effect] = [...state.effects.values()];
    if (effect === undefined) throw new Error('nothing is owed');
    expect(judgeBegun(effect, state, { host: 'alpha', isCaretaker: true })).toBe('here');
    expect(judgeBegun(effect, state, { host: 'alpha', isCaretaker: false })).toBe('elsewhere');
    state.effects.delete(effect.key);
    expect(judgeBegun(effect, state, { host: 'alpha', isCaretaker: false })).toBe('nowhere');
  });
});
