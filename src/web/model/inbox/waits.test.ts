import { expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import * as run from '../../../state/runs/say.cases.ts';
import * as say from '../../../state/say.cases.ts';
import { listWaits } from './waits.ts';

const NOW_MS = Date.parse('2026-01-01T00:10:00.000Z');

it('names the agent that waits, and what it has cost', () => {
  const play = new Play().order(run.startAgent()).say(run.started('a1'));
  play.say(run.used({ id: 'a1', usage: null }, 1000, { cost_millicents: 250 }));
  play.wait(1000).say(run.exited('a1', { code: 1 }));
  const [decision] = play.state.decisions.values();
  expect(listWaits(play.state, { taskIds: [] }, NOW_MS).decisions).toEqual({
    [decision?.id ?? '']: {
      who: ['coder'],
      tasks: 0,
      taskId: null,
      since: '2026-01-01T00:00:01.000Z',
      tokens: 1000,
      costMillicents: 250,
    },
  });
});

it('names the agents that have run', () => {
  const play = new Play().order(run.startAgent()).order(run.startAgent(run.agentPlan({ name: 'aide' }), 'a2'));
  play.order(run.startAgent(run.agentPlan(), 'a3'));
  expect(listWaits(play.state, { taskIds: [] }, NOW_MS).agents).toEqual(['aide', 'coder']);
});

it('forgets a decision that is answered', () => {
  const play = new Play()
    .order(run.startAgent())
    .say(run.started('a1'))
    .say(run.exited('a1', { code: 1 }));
  const [decision] = play.state.decisions.values();
  play.order(run.resolve(decision?.id ?? '', 1));
  expect(Object.keys(listWaits(play.state, { taskIds: [] }, NOW_MS).decisions)).not.toContain(decision?.id);
});

it('counts the open tasks that depend on a requested task', () => {
  const play = new Play().order(say.create('A'));
  for (const id of ['B', 'C', 'D']) play.order(say.create(id, { after: ['A'] }));
  play.order(say.operate('cancel', 'no', 'D'));
  play.wait(60_000).order(say.update('blocked', { notes: 'no disk' }));
  const { tasks } = listWaits(play.state, { taskIds: ['A', 'gone'] }, NOW_MS);
  expect(tasks).toMatchObject({ A: { who: ['task A'], tasks: 2, since: '2026-01-01T00:01:00.000Z' } });
  expect(Object.keys(tasks)).toEqual(['A']);
});
