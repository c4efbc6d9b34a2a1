import { describe, expect, it } from 'vitest';
import { isMine } from '../../state/fleet/owner.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import { Play } from '../play.cases.ts';
import { coders, owners, playFleet } from './fleet.cases.ts';

describe('the start of a run names its host', () => {
  it('on SQLite nothing names one', () => {
    const play = new Play().order(runs.configure([coders()])).order(say.create('A'));
    expect([play.newest('TaskClaimed'), play.newest('AgentRequested')].filter((data) => 'host' in data)).toEqual([]);
    expect([...play.state.effects.values()].every((effect) => isMine(effect, play.state, undefined))).toBe(true);
  });

  it('a claim and its run are on the host that decides', () => {
    const play = playFleet()
      .order(runs.configure([coders()]))
      .on('beta')
      .order(say.create('A'));
    expect(play.newest('TaskClaimed').host).toBe('beta');
    expect(play.agent()).toMatchObject({ host: 'beta', task: { task_id: 'A' } });
    expect(owners(play)).toEqual(['beta: AgentRequested']);
  });

  it('a pipeline, what is nested in it, its agents, commands and timers are on one host, also if another host decides', () => {
    const inside = { name: 'inner', vars: {}, steps: [runs.agentStep('code', { timeout_ms: 1000 })] };
    const nested = { name: 'in', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } } as const;
    const plan = runs.pipelinePlan([runs.shellStep('build'), nested], { inside: [inside] });
    const play = playFleet().on('beta').order(runs.startPipeline(plan));
    expect(owners(play)).toEqual(['beta: CommandRequested']);
    play.say(runs.finish(play.the('CommandRequested').command_id));
    expect([...play.state.pipelines.values()].map(({ host }) => host)).toEqual(['beta', 'beta']);
    expect(owners(play)).toEqual(['beta: TimerSet', 'beta: AgentRequested']);
    play.on('alpha').order(runs.cancel('p1'));
    expect(new Set(owners(play))).toEqual(new Set(['beta: AgentKillRequested']));
  });

  it('a decision on another host leaves the run where it is', () => {
    const play = playFleet().on('beta').order(runs.startAgent()).say(runs.started('a1'));
    play.say(runs.report({ kind: 'stop' }, 'a1'));
    play.on('alpha').order(runs.resolve(play.decision().id, 1, 'go on'));
    expect(owners(play)).toContain('beta: MessageRequested');
    play.on('beta').say(runs.report({ kind: 'stop' }, 'a1'));
    const { id, options } = play.decision();
    const retry = options.findIndex(({ action }) => action === 'retry') + 1;
    play.on('alpha').order(runs.resolve(id, retry));
    expect(play.agent()).toMatchObject({ host: 'beta', start: 1 });
    expect(play.agent().id).not.toBe('a1');
  });

  it('a pipeline that runs again does so on the host of its workspace', () => {
    const plan = runs.pipelinePlan([runs.shellStep('build')]);
    const play = playFleet().on('beta').order(runs.startPipeline(plan));
    play.say(runs.finish(play.the('CommandRequested').command_id, 1));
    play.on('alpha').order(runs.retry('p1'));
    expect(play.pipeline('p9').host).toBe('beta');
  });

  it('a run from before the fleet belongs to its founder', () => {
    const play = new Play().order(runs.startAgent());
    play.on('alpha').say({ kind: 'found-fleet', command: FOUNDED });
    expect([play.agent().host, ...owners(play)]).toEqual([null, 'alpha: AgentRequested']);
  });
});

const FOUNDED = { host: 'alpha', key: 'k', publicKey: 'pk', labels: [], agents: 2, rootCommit: null, remote: null };

describe('what no host owns', () => {
  it('belongs to the caretaker: notifications, timers of tasks, checks', () => {
    const rules = { ciGate: true, checks: [{ name: 'unit', run: 'true' }], stallMs: { CI_PENDING: 1000 } };
    const play = playFleet(['alpha', 'beta'], rules);
    play.order(say.create('A')).say(say.claim(), say.worker).say(say.record(), say.session());
    play.say(say.exit(), say.session());
    expect(owners(play)).toEqual(['caretaker: ChecksRequested', 'caretaker: TimerSet']);
    const { state } = play;
    const mine = (host: string, isCaretaker: boolean) =>
      [...state.effects.values()].filter((effect) => isMine(effect, state, { host, isCaretaker })).length;
    expect([mine('alpha', true), mine('beta', false)]).toEqual([2, 0]);
  });
});

describe('another host', () => {
  it('reports nothing about a run: it cannot see its processes', () => {
    const play = playFleet().on('beta').order(runs.startAgent());
    play.on('alpha');
    const reports = [runs.started('a1'), runs.startFailed('a1'), runs.exited('a1')];
    for (const report of reports) expect(play.refuse(report, say.system).code).toBe('other-host');
    expect(play.refuse(runs.attach('a1')).message).toBe('this run is on host beta, not on alpha');
    play
      .on('beta')
      .say(runs.started('a1'))
      .say(runs.exited('a1', { code: 0 }));
    expect(play.agent('a1').process).toBe('gone');
  });

  it('sends messages and kills, which its own host performs', () => {
    const play = playFleet().on('beta').order(runs.startAgent()).say(runs.started('a1'));
    play.on('alpha').order(runs.send('a1', 'hello'));
    expect(owners(play)).toEqual(['beta: MessageRequested']);
    expect(play.refuse(runs.deliver('m9'), say.system).code).toBe('other-host');
    play.order(runs.kill('a1'));
    expect(owners(play)).toContain('beta: AgentKillRequested');
  });
});
