import { describe, expect, it } from 'vitest';
import * as fleet from '../../state/fleet/say.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import { findUnservedTasks, listUnserved } from '../../state/tasks/worker-fit.ts';
import * as flow from '../../state/workflow/say.cases.ts';
import { mayGiveWork } from '../makes-room.ts';
import type { Play } from '../play.cases.ts';
import { coders, playFleet } from './fleet.cases.ts';

/** The claimed tasks, with their hosts. */
function claims({ state }: Play): string[] {
  return [...state.tasks.values()].flatMap(({ id, claim }) => (claim === null ? [] : [`${id} ${claim.host ?? '?'}`]));
}

function withTasks(play: Play, ...ids: readonly string[]): Play {
  for (const id of ids) play.order(say.create(id));
  return play;
}

describe('a host fills its own room', () => {
  it('up to its number of agents, and others take the rest when they look', () => {
    const play = playFleet(['alpha', 'beta']).order(fleet.admit('beta', { agents: 1 }));
    play.order(runs.configure([coders()]));
    withTasks(play, 'A', 'B', 'C', 'D', 'E', 'F', 'G');
    expect(claims(play)).toEqual(['A alpha', 'B alpha', 'C alpha', 'D alpha']);
    expect(claims(play.on('beta').look())).toEqual(['A alpha', 'B alpha', 'C alpha', 'D alpha', 'E beta']);
    expect(play.look().last, 'the room is full').toEqual([]);
    expect(play.on('alpha').look().last, 'and here too').toEqual([]);
    play.on('beta').say(runs.startFailed(play.agent().id));
    expect(claims(play), 'a free place is filled in the same commit').toContain('F beta');
  });

  it('only up to the limit of all hosts together', () => {
    const play = playFleet(['alpha', 'beta'], { maxAgents: 3 }).order(fleet.admit('alpha', { agents: 2 }));
    play.order(runs.configure([coders()]));
    withTasks(play, 'A', 'B', 'C', 'D').on('beta').look();
    expect(claims(play)).toEqual(['A alpha', 'B alpha', 'C beta']);
  });

  it('a step of a pipeline waits for room on its own host', () => {
    const play = playFleet(['alpha', 'beta']).order(fleet.admit('alpha', { agents: 1 }));
    play.order(runs.startAgent()).order(runs.startPipeline());
    expect(play.count('AgentRequested')).toBe(1);
    expect(play.on('beta').look().last, 'another host leaves it alone').toEqual([]);
    play.on('alpha').say(runs.startFailed('a1'));
    expect(play.agent()).toMatchObject({ host: 'alpha', owner: { pipelineId: 'p1' } });
  });

  it('an agent that a person starts finds no room if the host has none', () => {
    const play = playFleet().order(fleet.admit('alpha', { agents: 0 }));
    expect(play.refuse(runs.startAgent())).toMatchObject({
      code: 'no-room',
      message: expect.stringContaining('alpha'),
    });
    play.on('beta').order(runs.startAgent());
  });
});

describe('a worker with labels', () => {
  const gpu = coders({ labels: ['gpu', 'linux'] });

  it('works only on hosts that have all of them', () => {
    const play = playFleet(['alpha', 'beta']).order(fleet.admit('beta', { labels: ['linux', 'gpu', 'big'] }));
    withTasks(play.order(runs.configure([gpu])), 'A');
    expect(claims(play)).toEqual([]);
    expect(claims(play.on('beta').look())).toEqual(['A beta']);
  });

  it('leaves tasks unserved if no live host has them, and says which are missing', () => {
    const play = playFleet(['alpha', 'beta']).order(fleet.admit('beta', { labels: ['linux', 'gpu'] }));
    withTasks(play.order(runs.configure([gpu])), 'A');
    expect(findUnservedTasks(play.state, play.rules)).toEqual([]);
    play.order(fleet.drain('beta'));
    expect(listUnserved(play.state, play.rules)).toMatchObject([{ task: { id: 'A' }, missing: ['gpu', 'linux'] }]);
    play.order(fleet.drain('beta', false)).order(fleet.remove('beta'));
    expect(listUnserved(play.state, play.rules)).toMatchObject([{ task: { id: 'A' } }]);
  });
});

describe('a host that drains', () => {
  it('takes nothing, even when it looks; what runs there ends normally', () => {
    const play = playFleet(['alpha', 'beta']).order(runs.configure([coders()]));
    withTasks(play, 'A').order(fleet.drain('alpha'));
    withTasks(play, 'B').look();
    expect(claims(play)).toEqual(['A alpha']);
    expect(play.agent()).toMatchObject({ outcome: null, host: 'alpha' });
    expect(claims(play.on('beta').look())).toEqual(['A alpha', 'B beta']);
    withTasks(play.order(fleet.drain('beta')), 'C');
    expect(claims(play.on('alpha').order(fleet.drain('alpha', false)))).toContain('C alpha');
  });
});

describe('work goes to another host', () => {
  /**
   * A session on alpha, with a worktree, that has ended. The task waits for the next session while alpha has no room.
   */
  function ended(...during: readonly Parameters<Play['say']>[0][]): Play {
    const play = playFleet(['alpha', 'beta']).order(say.create('A')).say(say.claim('A', 's1'), say.worker);
    play.say(flow.nameBranch('A', 1, 'task/a')).say(flow.prepare('A', 1));
    for (const command of during) play.say(command);
    play.say(say.release(), say.session()).order(fleet.drain('alpha'));
    return play.on('beta').order(runs.configure([coders()]));
  }

  it('once it is pushed', () => {
    const play = ended();
    expect(claims(play)).toEqual([]);
    play.on('alpha').say(fleet.pushed('alpha'));
    expect(claims(play.on('beta').look())).toEqual(['A beta']);
  });

  it('not while the last push failed', () => {
    const play = ended(fleet.pushed('alpha'), fleet.pushFailed('alpha'));
    expect([...claims(play), ...claims(play.look())]).toEqual([]);
    play.on('alpha').say(fleet.pushed('alpha'));
    expect(claims(play.on('beta').look())).toEqual(['A beta']);
  });
});

describe('an entry of another host', () => {
  it('makes a host look for work only if it may give some', () => {
    const may = [
      'TaskCreated',
      'ClaimExpired',
      'WorkPushed',
      'HostRemoved',
      'DecisionResolved',
      'AgentExited',
    ] as const;
    const not = ['TaskClaimed', 'AgentStarted', 'SessionUsed', 'CaretakerChanged', 'MessageDelivered'] as const;
    expect(may.filter((type) => !mayGiveWork({ type }))).toEqual([]);
    expect(not.filter((type) => mayGiveWork({ type }))).toEqual([]);
  });
});
