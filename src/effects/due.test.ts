import { describe, expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import { event } from '../state/event.ts';
import { given, OPEN, type Step } from '../state/given.cases.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { askMerge } from '../state/workflow/say.cases.ts';
import { isDue } from './due.ts';

/** What of an agent's start, stop and messages would be done now. */
function due({ state }: Play): string[] {
  const effects = [...state.effects.values()].filter((effect) => 'agentId' in effect && isDue(effect, state));
  return effects.map(({ kind }) => kind);
}

function working(): Play {
  return new Play().order(runs.startAgent(runs.agentPlan({ budget: { tokens: 100 } }))).say(runs.started('a1'));
}

function spend(play: Play): Play {
  return play.say(runs.used(play.agent(), 120), runs.supervisor('a1'));
}

describe('what is owed to an agent', () => {
  it('is told when it listens', () => {
    const play = new Play().order(runs.startAgent()).order(runs.send('a1', 'Mind the gap.'));
    expect(due(play)).toEqual(['start-agent']);
    expect(due(play.say(runs.started('a1')))).toEqual(['send-message']);
  });

  it('waits while it waits for a budget', () => {
    const play = spend(working().order(runs.send('a1', 'Mind the gap.')));
    expect(due(play)).toEqual([]);
    expect(due(play.order(runs.resolve(play.decision().id, 1)))).toEqual(['send-message', 'send-message']);
  });

  it('is not begun where it comes to a budget that is used up', () => {
    const play = spend(working()).say(runs.exited('a1'));
    play.order(runs.resolve(play.decision().id, 1));
    expect(due(play)).toEqual(['start-agent']);
    play.say(runs.used(play.agent(), 100), runs.supervisor('a1'));
    expect([play.agent().process, due(play)]).toEqual(['wanted', []]);
  });

  it('is told after the person who has it', () => {
    const play = working().order(runs.attach('a1')).order(runs.send('a1', 'Mind the gap.'));
    expect(due(play)).toEqual(['stop-agent']);
    expect(due(play.say(runs.exited('a1', { code: 143 })))).toEqual(['start-agent']);
    expect(due(play.say(runs.started('a1', 2)))).toEqual([]);
  });
});

describe('a person who wants an agent that waits for a budget', () => {
  it('gets it: what they use is theirs', () => {
    const play = spend(working()).order(runs.attach('a1'));
    expect(due(play)).toEqual(['stop-agent']);
    play.say(runs.exited('a1', { code: 143 }));
    expect([play.seen().agent, due(play)]).toEqual(['attached', ['start-agent']]);
    play.say(runs.started('a1', 2)).say(runs.attached('a1', 2), runs.supervisor('a1'));
    play.say(runs.detached('a1', 2, true), runs.supervisor('a1')).say(runs.exited('a1', { start: 2 }));
    expect([play.seen().agent, play.decision().result, due(play)]).toEqual(['escalated', null, []]);
    play.order(runs.resolve(play.decision().id, 1));
    expect([play.agent().start, due(play)]).toEqual([3, ['start-agent']]);
    play.checkReplay();
  });

  it('gets one that was not even started, which is told later what it was to be told', () => {
    const play = spend(working()).say(runs.exited('a1'));
    play.order(runs.resolve(play.decision().id, 1, 'Be brief.'));
    play.say(runs.used(play.agent(), 100), runs.supervisor('a1')).order(runs.attach('a1'));
    expect(due(play)).toEqual(['stop-agent']);
    play.say(runs.exited('a1', { start: 2, code: null, signal: 'SIGKILL' }));
    expect([play.agent().start, due(play)]).toEqual([3, ['start-agent']]);
    expect(play.the('send-message').text).toBe('Be brief.');
    play.say(runs.detached('a1', 3, false), runs.supervisor('a1')).say(runs.exited('a1', { start: 3 }));
    play.order(runs.resolve(play.decision().id, 1)).say(runs.started('a1', 4));
    expect(due(play)).toEqual(['send-message']);
  });
});

describe('a merge', () => {
  const asked = (action: 'retry' | 'dismiss') =>
    event('DecisionOpened', {
      decision_id: 'd1',
      source: 'reconcile',
      title: 'A does not fit what is in git',
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
    return [...state.effects.values()].filter(({ kind }) => kind === 'merge').map((effect) => isDue(effect, state));
  };

  it('waits while a person is asked about the task, and goes on with the answer', () => {
    const answered = event('DecisionResolved', { decision_id: 'd1', option: 1, action: 'dismiss', message: null });
    expect(isMergeDue(merging)).toEqual([true]);
    expect(isMergeDue([...merging, asked('retry')])).toEqual([false]);
    expect(isMergeDue([...merging, asked('retry'), answered])).toEqual([true]);
    expect(isMergeDue([...merging, asked('dismiss')])).toEqual([true]);
  });
});
