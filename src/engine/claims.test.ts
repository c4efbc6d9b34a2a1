import { describe, expect, it } from 'vitest';
import type { AgentPlan, StepPlan, WorkerPlan } from '../protocol/run-plan.ts';
import type { Rules } from '../state/rules.ts';
import * as runs from '../state/runs/say.cases.ts';
import { standingOf } from '../state/runs/standing.ts';
import * as say from '../state/say.cases.ts';
import { create, expire, operate, release, session } from '../state/say.cases.ts';
import { Play } from './play.cases.ts';

function agentWorker(more: Partial<WorkerPlan> = {}, plan: Partial<AgentPlan> = {}): WorkerPlan {
  return { name: 'builders', concurrency: 1, plan: { kind: 'agent', agent: runs.agentPlan(plan) }, ...more };
}

function pipelineWorker(steps: readonly StepPlan[]): WorkerPlan {
  return { name: 'builders', concurrency: 1, plan: runs.pipelinePlan(steps) };
}

/** A worker with task A, which it claimed in the commit that created the task. */
function working(worker: WorkerPlan, rules: Partial<Rules> = { ciGate: true }): Play {
  return new Play(rules).order(runs.configure([worker])).order(create('A'));
}

const sessionOf = (play: Play) => session(play.newest('TaskClaimed').session_id);

function held(play: Play): string[] {
  return [...play.state.tasks.values()].filter(({ claim }) => claim !== null).map(({ id }) => id);
}

describe('a worker', () => {
  it('claims a task and starts in the commit that created the task', () => {
    const play = working(agentWorker());
    expect(play.types()).toEqual(['TaskCreated', 'TaskClaimed', 'AgentRequested']);
    const { session_id } = play.newest('TaskClaimed');
    expect(play.newest('TaskClaimed')).toMatchObject({ holder: 'coder', epoch: 1, requires: ['exit', 'result'] });
    expect(play.agent()).toMatchObject({
      id: session_id,
      worker: 'builders',
      task: { task_id: 'A', epoch: 1, session_id },
    });
    expect(play.entries.at(-1)?.actor).toBe('system:engine');
    play.checkReplay();
  });

  it('has the requirements of its agent', () => {
    expect(working(agentWorker({}, { requires: ['handoff'] })).newest('TaskClaimed').requires).toEqual(['handoff']);
  });

  it('has the requirements of all agents of its pipeline', () => {
    const steps: StepPlan[] = ['plan', 'coder'].map((agent) => ({ name: agent, run: { kind: 'agent', agent } }));
    const agents = {
      plan: runs.agentPlan({ name: 'plan', requires: ['exit'] }),
      coder: runs.agentPlan({ requires: ['exit', 'handoff', 'thought_record'] }),
    };
    const play = working({ ...pipelineWorker(steps), plan: { ...runs.pipelinePlan(steps), agents } });
    expect(play.newest('TaskClaimed').requires).toEqual(['exit', 'handoff', 'thought_record']);
  });

  it('runs up to its concurrency, and claims the next task when a run ends', () => {
    const play = new Play({ ciGate: true }).order(runs.configure([agentWorker({ concurrency: 2 })]));
    for (const id of ['A', 'B', 'C']) play.order(create(id));
    expect(held(play)).toEqual(['A', 'B']);
    const [first] = play.state.agents.values();
    play
      .say(runs.started(first?.id ?? ''))
      .say(say.result(), session(first?.id))
      .say(runs.signal('complete'), session(first?.id));
    expect(play.state.tasks.get('A')?.phase).toBe('CI_PENDING');
    expect(held(play)).toEqual(['B', 'C']);
  });

  it('claims what fits: by id, by phase, by role', () => {
    const made = (worker: WorkerPlan) => {
      const play = new Play()
        .order(create('web-1', { nextRole: 'reviewer' }))
        .order(create('api-1', { phase: 'DRAFT' }))
        .order(create('w.x'));
      return held(play.order(runs.configure([{ ...worker, concurrency: 9 }])));
    };
    expect(made(agentWorker())).toEqual(['web-1', 'api-1', 'w.x']);
    expect(made(agentWorker({ tasks: ['w.*', '*-1x'] }))).toEqual(['w.x']);
    expect(made(agentWorker({ phases: ['DRAFT'] }))).toEqual(['api-1']);
    expect(made(agentWorker({ roles: ['fixer'] }))).toEqual(['api-1', 'w.x']);
    expect(made(agentWorker({}, { role: 'fixer' }))).toEqual(['api-1', 'w.x']);
    expect(made(agentWorker({ roles: ['reviewer'] }, { role: 'reviewer' }))).toEqual(['web-1', 'api-1', 'w.x']);
  });

  it('finds its task behind ten thousand tasks of other roles', () => {
    const play = new Play();
    for (let i = 0; i < 700; i += 1)
      play.state.tasks.set(`t${i}`, { ...say.emptyTask, id: `t${i}`, n: i + 1, claim: null });
    play.order(create('Z', { phase: 'DRAFT' })).order(runs.configure([agentWorker({ phases: ['DRAFT'] })]));
    expect(held(play)).toEqual(['Z']);
  });

  it('respects the concurrency of an agent and the limit for all agents', () => {
    const kind = new Play().order(runs.configure([agentWorker({ concurrency: 9 }, { max_concurrency: 2 })]));
    for (const id of ['A', 'B', 'C']) kind.order(create(id));
    expect(held(kind)).toEqual(['A', 'B']);
    const all = new Play({ maxAgents: 1 }).order(create('A')).order(create('B'));
    all.order(runs.configure([agentWorker({ concurrency: 9 })]));
    expect(held(all)).toEqual(['A']);
    expect(all.refuse(runs.startAgent()).code).toBe('no-room');
    all.order(runs.kill(all.agent().id)).say(runs.exited(all.agent().id));
    expect(held(all)).toEqual(['B']);
  });

  it('can run a shell command, or a pipeline, on its tasks', () => {
    const shell = working({ name: 'sh', concurrency: 1, plan: { kind: 'shell', command: 'make' } });
    expect(shell.types()).toEqual(['TaskCreated', 'TaskClaimed', 'PipelineStarted', 'StepStarted', 'CommandRequested']);
    expect(shell.the('CommandRequested').command).toBe('make');
    const play = working(pipelineWorker([runs.agentStep('code')]));
    expect(play.agent().task).toMatchObject({ session_id: play.newest('PipelineStarted').pipeline_id });
  });

  it('is configured once: the same configuration again records nothing', () => {
    const play = working(agentWorker());
    expect(play.order(runs.configure([agentWorker()])).types()).toEqual([]);
    expect(play.order(runs.configure([])).state.workers.size).toBe(0);
  });
});

describe('steps wait for room', () => {
  it('oldest first', () => {
    const plan = runs.pipelinePlan([runs.agentStep('code')], { agents: [runs.agentPlan({ max_concurrency: 1 })] });
    const play = new Play();
    for (const id of ['p3', 'p1', 'p2']) play.order(runs.startPipeline(plan, {}, id)).wait(10);
    expect(play.count('AgentRequested')).toBe(1);
    expect(play.pipeline('p1').step).toMatchObject({ status: 'running', agentId: null });
    play.say(runs.started(play.agent().id)).say(runs.signal('complete'), runs.agent(play.agent().id));
    // The agent has signalled, but its process still runs and takes room.
    expect(play.count('AgentRequested')).toBe(1);
    play.say(runs.exited(play.agent().id));
    expect(play.agent().owner?.pipelineId).toBe('p1');
    play.order(runs.cancel('p2'));
    expect(play.pipeline('p2').outcome).toBe('cancelled');
    play.checkReplay();
  });

  it('and their time limit starts when they get it', () => {
    const steps = [runs.agentStep('code', { timeout_ms: 1000 })];
    const plan = runs.pipelinePlan(steps, { agents: [runs.agentPlan({ max_concurrency: 1 })] });
    const play = new Play().order(runs.startPipeline(plan)).order(runs.startPipeline(plan, {}, 'p2'));
    expect(play.owed('TimerSet')).toHaveLength(1);
    const first = play.agent().id;
    play.wait(700).say(runs.started(first)).say(runs.signal('complete'), runs.agent(first)).say(runs.exited(first));
    expect(play.the('TimerSet')).toMatchObject({
      due: '2026-01-01T00:00:01.700Z',
      purpose: { kind: 'step', pipeline_id: 'p2' },
    });
  });

  it('while an exited agent that waits for a person takes none', () => {
    const plan = runs.pipelinePlan([runs.agentStep('code')]);
    const play = new Play({ maxAgents: 1 }).order(runs.startPipeline(plan)).order(runs.startPipeline(plan, {}, 'p2'));
    const first = play.agent().id;
    play.say(runs.started(first)).say(runs.report({ kind: 'stop' }, first));
    expect(play.count('AgentRequested')).toBe(1);
    play.say(runs.exited(first));
    expect(play.agent().owner?.pipelineId).toBe('p2');
  });
});

describe('the end of a session', () => {
  it('by exit signal ends the step in the same commit', () => {
    const play = working(pipelineWorker([runs.agentStep('code'), runs.shellStep('after')]));
    play.say(runs.started(play.agent().id)).say(say.result(), sessionOf(play)).say(say.exit(), sessionOf(play));
    expect(play.types().slice(0, 4)).toEqual(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved', 'AgentEnded']);
    expect(play.types()).toContain('StepFinished');
    const run = play.pipeline(play.newest('PipelineStarted').pipeline_id);
    expect(run.step?.name).toBe('after');
    play.say(runs.exited(play.agent().id));
    play.say(runs.finish(play.the('CommandRequested').command_id));
    expect(play.pipeline(run.id).outcome).toBe('done');
    expect(play.state.tasks.get('A')).toMatchObject({ phase: 'CI_PENDING', claim: null });
    play.checkReplay();
  });

  it.each(['blocked', 'error'] as const)('by exit signal %s is a failed step', (reason) => {
    const play = working(pipelineWorker([runs.agentStep('code')]));
    play.say(say.exit('IMPLEMENTATION', reason, { notes: 'no key' }), sessionOf(play));
    expect(play.newest('StepFinished')).toMatchObject({ outcome: 'failed', reason: `exit signal: ${reason}: no key` });
    expect(play.newest('PipelineFinished').outcome).toBe('failed');
  });

  it('by agent:signal complete is accepted if the exit protocol is off, and refused if it is on', () => {
    const play = working(agentWorker());
    const standing = () => standingOf(play.state, play.agent().id, true);
    expect(standing()).toEqual({
      at: play.state.seq,
      has_signalled: false,
      is_owned: true,
      is_parked: false,
      missing: ['result', 'exit signal'],
    });
    expect(play.refuse(runs.signal('complete', undefined, undefined, true), sessionOf(play)).message).toBe(
      'cannot complete: missing exit signal',
    );
    expect(play.refuse(runs.signal('complete'), sessionOf(play)).message).toBe('cannot complete: missing result');
    play.say(say.result(), sessionOf(play)).say(runs.signal('complete', undefined, 'did it'), sessionOf(play));
    expect(play.types()[0]).toBe('AgentSessionCompleted');
    expect(play.agent()).toMatchObject({ outcome: 'done', reason: 'did it' });
    expect(standing()).toMatchObject({ is_owned: false, missing: [] });
    // A repeated request, by any operation, gets the first answer.
    expect(play.say(runs.signal('complete', undefined, 'did it'), sessionOf(play)).types()).toEqual([]);
    expect(play.say(runs.signal('complete', play.agent().id), sessionOf(play)).types()).toEqual([]);
  });

  it('by completing the task ends the run as done, and by releasing it as failed', () => {
    const done = working(agentWorker(), {});
    done.say(say.complete(), sessionOf(done));
    expect(done.agent().outcome).toBe('done');
    const back = working(agentWorker());
    back.order(runs.configure([])).say(release('A', { reason: 'not for me' }), sessionOf(back));
    expect(back.agent()).toMatchObject({ outcome: 'failed', reason: 'the claim was lost (released): not for me' });
    const stuck = working(agentWorker());
    stuck.say(say.update('blocked', { notes: 'no network' }), sessionOf(stuck));
    expect(stuck.agent()).toMatchObject({ outcome: 'failed', reason: 'the claim was blocked: no network' });
  });

  it('without a signal blocks the task, so that workers do not repeat it for ever', () => {
    const play = working(agentWorker({}, { on_dead: { action: 'done' } }));
    play.say(runs.exited(play.agent().id));
    expect(play.state.tasks.get('A')).toMatchObject({ phase: 'BLOCKED', claim: null });
    play.order(operate('unblock'));
    expect(play.state.tasks.get('A')?.claim?.epoch).toBe(2);
  });
});

describe('a lost claim', () => {
  it('stops the agent and fails the run', () => {
    const play = working(agentWorker());
    play.order(runs.configure([])).say(runs.started(play.agent().id)).say(expire());
    expect(play.agent()).toMatchObject({
      outcome: 'failed',
      reason: 'the claim was lost (expired): not renewed in time',
      killed: true,
    });
    expect(play.the('AgentKillRequested').agent_id).toBe(play.agent().id);
    expect(play.newest('NotificationRequested')).toMatchObject({ kind: 'failed', title: 'Agent failed: coder' });
  });

  it('stops a whole pipeline with its nested ones', () => {
    const inside = [{ name: 'inner', vars: {}, steps: [runs.agentStep('deep')] }];
    const outer: StepPlan = { name: 'outer', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } };
    const play = working({ name: 'w', concurrency: 1, plan: runs.pipelinePlan([outer], { inside }) });
    play.order(runs.configure([])).order(release('A', { reason: 'mine' }));
    expect([...play.state.pipelines.values()].map(({ outcome }) => outcome)).toEqual(['failed', 'cancelled']);
    expect(play.agent().outcome).toBe('cancelled');
    expect(play.starts()).toEqual([]);
    play.checkReplay();
  });

  it('starts no step that waited for room', () => {
    const rules = { ciGate: true, maxAgents: 1 };
    const play = working(pipelineWorker([runs.shellStep('build'), runs.agentStep('code')]), rules);
    play.order(runs.configure([])).order(runs.startAgent());
    play.say(runs.finish(play.the('CommandRequested').command_id));
    expect(play.count('AgentRequested')).toBe(1);
    // The limit is raised, and the daemon restarts.
    Object.assign(play.rules, { maxAgents: 9 });
    play.say(expire());
    expect(play.types()).toEqual(['ClaimExpired', 'StepFinished', 'PipelineFinished', 'NotificationRequested']);
  });

  it('stays with a parked agent', () => {
    const play = working(agentWorker({}, { on_stop: { action: 'escalate' } }));
    play
      .say(runs.started(play.agent().id))
      .say(runs.report({ kind: 'stop' }, play.agent().id))
      .say(runs.exited(play.agent().id));
    expect(play.state.tasks.get('A')?.claim?.sessionId).toBe(play.agent().id);
    const first = play.agent().id;
    play.order(runs.resolve(play.decision().id, 3));
    // Another agent continues under the same claim.
    expect(play.agent().id).not.toBe(first);
    expect(play.agent().task?.session_id).toBe(first);
    expect(play.state.tasks.get('A')?.claim?.sessionId).toBe(first);
    play.say(say.result(), session(first)).say(runs.signal('complete'), session(first));
    expect(play.agent().outcome).toBe('done');
  });
});

describe("people are notified of a worker's run", () => {
  it('if it failed, unless the runbook says otherwise', () => {
    const failing = (notify?: boolean) => {
      const plan = runs.pipelinePlan([runs.shellStep('a')], notify === undefined ? {} : { notify });
      const play = working({ name: 'w', concurrency: 1, plan });
      return play
        .say(runs.finish(play.the('CommandRequested').command_id, 1))
        .owed('NotificationRequested')
        .map(({ title }) => title);
    };
    expect(failing()).toEqual(['Pipeline failed: main']);
    expect(failing(false)).toEqual([]);
  });
});

describe('a cancelled run', () => {
  it('leaves its task blocked with the reason', () => {
    const play = working(pipelineWorker([runs.agentStep('code')]));
    play.order(runs.cancel(play.newest('PipelineStarted').pipeline_id, 'wrong branch'));
    expect(play.state.tasks.get('A')).toMatchObject({
      phase: 'BLOCKED',
      blocked: { reason: 'pipeline main cancelled: wrong branch' },
    });
  });
});
