import { describe, expect, it } from 'vitest';
import * as fleet from '../../state/fleet/say.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import * as flow from '../../state/workflow/say.cases.ts';
import { coders, owners, playFleet } from './fleet.cases.ts';

describe('when a host is removed', () => {
  it('its agents are lost, its claims revoked, and their tasks continue elsewhere in the same commit', () => {
    const play = playFleet()
      .order(runs.configure([coders()]))
      .on('beta')
      .order(say.create('A'));
    const lost = play.agent();
    play.say(runs.started(lost.id)).on('alpha').order(runs.send(lost.id, 'hello')).order(fleet.remove('beta'));
    expect(play.agent(lost.id)).toMatchObject({ outcome: 'failed', process: 'gone' });
    expect(play.agent(lost.id).reason).toContain('host beta was removed: burnt down');
    expect(play.newest('ClaimRevoked')).toMatchObject({ epoch: 1, reason: 'host beta was removed: burnt down' });
    expect(play.state.tasks.get('A')).toMatchObject({ phase: 'IMPLEMENTATION', claim: { epoch: 2, host: 'alpha' } });
    expect(owners(play).filter((owed) => !owed.startsWith('caretaker'))).toEqual(['alpha: AgentRequested']);
  });

  it('its pipelines fail with everything inside them, and no effect is owed there', () => {
    const inside = { name: 'inner', vars: {}, steps: [runs.agentStep('code', { timeout_ms: 1000 })] };
    const nested = { name: 'in', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } } as const;
    const workspace = { branch: 'w' };
    const play = playFleet().on('beta');
    play.order(runs.startPipeline(runs.pipelinePlan([nested], { inside: [inside] }), {}, 'p1'));
    play.order(runs.startPipeline(runs.pipelinePlan([runs.shellStep('build')]), {}, 'p2'));
    play.order(runs.startPipeline(runs.pipelinePlan([runs.agentStep('x', { workspace })]), {}, 'p3'));
    play.say(runs.started(play.agent().id)).say(runs.report({ kind: 'stop' }, play.agent().id));
    play.on('alpha').order(fleet.remove('beta'));
    const outcomes = ['p1', 'p2', 'p3'].map((id) => play.pipeline(id).outcome);
    expect([...outcomes, play.agent().process]).toEqual(['failed', 'failed', 'failed', 'gone']);
    expect([...play.state.pipelines.values()].every(({ outcome }) => outcome !== null)).toBe(true);
    expect(owners(play).filter((owed) => !owed.endsWith('NotificationRequested'))).toEqual([]);
    expect([...play.state.decisions.values()].every(({ result }) => result !== null)).toBe(true);
    play.checkReplay();
  });

  it('runs on other hosts continue', () => {
    const play = playFleet(['alpha', 'beta', 'gamma']).on('gamma').order(runs.startAgent());
    play.on('alpha').order(fleet.remove('beta'));
    expect(play.agent('a1')).toMatchObject({ outcome: null, process: 'wanted', host: 'gamma' });
  });

  it('a worktree there has no owner: the caretaker records that', () => {
    const play = playFleet().on('beta').order(say.create('A')).say(say.claim('A', 's1'), say.worker);
    play.say(flow.nameBranch('A', 1, 'task/a')).say(flow.prepare('A', 1));
    play.on('alpha').order(say.operate('cancel', 'no need'));
    expect(owners(play)).toContain('beta: PlaceClearRequested');
    play.order(fleet.remove('beta'));
    expect(owners(play)).toContain('caretaker: PlaceClearRequested');
  });

  it('an agent that a person had attached is lost like any other', () => {
    const play = playFleet().on('beta').order(runs.startAgent()).say(runs.started('a1')).order(runs.attach('a1'));
    play.on('alpha').order(fleet.remove('beta'));
    expect(play.agent('a1')).toMatchObject({ outcome: 'failed', process: 'gone', start: 1 });
    expect(owners(play).filter((owed) => owed.startsWith('beta'))).toEqual([]);
  });
});
