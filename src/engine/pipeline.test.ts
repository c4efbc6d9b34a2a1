import { describe, expect, it } from 'vitest';
import type { StepPlan } from '../protocol/run-plan.ts';
import { pipelineStatus } from '../state/runs/pipeline-run.ts';
import * as runs from '../state/runs/say.cases.ts';
import { findPipelineDecision, overallPipelineStatus } from '../state/runs/steer-pipeline.ts';
import { Play } from './play.cases.ts';
import { MAX_STEP_VISITS } from './steps.ts';

function start(steps: readonly StepPlan[], more: Parameters<typeof runs.pipelinePlan>[1] = {}): Play {
  return new Play().order(runs.startPipeline(runs.pipelinePlan(steps, more)));
}

function finish(play: Play, exitCode = 0, more = {}): Play {
  return play.say(runs.finish(play.the('CommandRequested').command_id, exitCode, more));
}

function signal(play: Play, message?: string): Play {
  const { id } = play.agent();
  if (play.agent().process === 'wanted') play.say(runs.started(id, play.agent().start));
  return play.say(runs.signal('complete', undefined, message), runs.agent(id));
}

function trail(play: Play): string[] {
  return play.entries.flatMap(({ type, data }) => {
    if (type === 'StepStarted') return [`${data.step} ${data.visit}`];
    return type === 'PipelineFinished' ? [data.outcome] : [];
  });
}

describe('steps', () => {
  it('run one after the other, each after the process of the step before has exited', () => {
    const play = start([runs.shellStep('build'), runs.agentStep('code'), runs.shellStep('ship', { timeout_ms: 5000 })]);
    expect(play.types()).toEqual(['PipelineStarted', 'StepStarted', 'CommandRequested']);
    expect(play.the('CommandRequested')).toMatchObject({
      command: 'do build',
      timeout_ms: null,
      subject: { kind: 'step', pipeline_id: 'p1', step: 'build', visit: 1 },
    });
    finish(play, 0, { output: 'built' });
    expect(play.types()).toEqual(['CommandFinished', 'StepFinished', 'StepStarted', 'AgentRequested']);
    signal(play, 'coded');
    expect(play.types()).toEqual(['AgentSignalled', 'AgentEnded', 'TimerSet', 'StepFinished', 'StepStarted']);
    expect(play.say(runs.exited(play.agent().id)).types()).toEqual([
      'AgentExited',
      'TimerCancelled',
      'CommandRequested',
    ]);
    expect(play.the('CommandRequested').timeout_ms).toBe(5000);
    finish(play);
    expect(play.types()).toEqual(['CommandFinished', 'StepFinished', 'PipelineFinished']);
    expect(play.pipeline()).toMatchObject({
      outcome: 'done',
      reason: null,
      history: { build: { output: 'built', exitCode: 0 }, code: { output: 'coded' }, ship: { outcome: 'done' } },
    });
    play.checkReplay();
  });

  it('follow on_done', () => {
    const play = start([runs.shellStep('a', { on_done: 'c' }), runs.shellStep('b'), runs.shellStep('c')]);
    finish(finish(play));
    expect(trail(play)).toEqual(['a 1', 'c 1', 'done']);
  });

  it('that fail end the pipeline with the reason', () => {
    const play = finish(start([runs.shellStep('a'), runs.shellStep('b')]), 2);
    expect(play.pipeline()).toMatchObject({ outcome: 'failed', reason: 'step a failed: exit code 2' });
    const late = finish(start([runs.shellStep('a')]), 0, { timed_out: true, exit_code: null });
    expect(late.pipeline().reason).toBe('step a failed: timed out');
  });

  it('that fail are retried as on_fail says, then another step runs', () => {
    const steps = [
      runs.shellStep('test', { on_fail: { step: 'fix', retries: 2 } }),
      runs.shellStep('fix', { on_done: 'test' }),
    ];
    const play = start(steps);
    finish(finish(finish(play, 1), 1), 1);
    expect(trail(play)).toEqual(['test 1', 'test 2', 'test 3', 'fix 1']);
    finish(finish(finish(play), 1), 1);
    // A step that is entered again has all its retries again.
    expect(trail(play).slice(4)).toEqual(['test 4', 'test 5', 'test 6']);
    finish(play);
    expect(trail(play).slice(7)).toEqual(['fix 2']);
    play.checkReplay();
  });

  it('wait for the cooldown between two retries', () => {
    const play = finish(start([runs.shellStep('a', { on_fail: { retries: 1, cooldown_ms: 3000 } })]), 1);
    expect(play.pipeline().step).toBeNull();
    expect(play.the('TimerSet')).toMatchObject({
      due: '2026-01-01T00:00:03.000Z',
      purpose: { kind: 'retry', step: 'a', visit: 2 },
    });
    play.say(runs.fire(play.the('TimerSet').timer_id));
    finish(play, 1);
    expect(trail(play)).toEqual(['a 1', 'a 2', 'failed']);
  });

  it('fail if the agent cannot be started or is unknown', () => {
    const play = start([runs.agentStep('code')]);
    play.say(runs.startFailed(play.agent().id));
    expect(play.pipeline().reason).toBe('step code failed: could not be started: no such program');
    const unknown = start([runs.agentStep('code', {}, 'ghost')]);
    expect(unknown.pipeline().reason).toBe('step code failed: the plan has no agent ghost');
  });

  it('do not loop forever', () => {
    const play = start([runs.shellStep('a', { on_done: 'b' }), runs.shellStep('b', { on_done: 'a' })]);
    for (let i = 0; i < 2 * MAX_STEP_VISITS; i += 1) finish(play);
    expect(play.pipeline()).toMatchObject({ outcome: 'failed', reason: `step a was entered ${MAX_STEP_VISITS} times` });
  });

  it('are done if they have no command', () => {
    expect(start([]).pipeline().outcome).toBe('done');
  });
});

describe('the time limit of a step', () => {
  it('fails and kills its agent', () => {
    const play = start([
      runs.agentStep('code', { timeout_ms: 1000, on_fail: { step: 'tell' } }),
      runs.shellStep('tell'),
    ]);
    play.say(runs.started(play.agent().id)).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.agent()).toMatchObject({ outcome: 'failed', reason: 'timed out', killed: true });
    expect(play.the('AgentKillRequested').reason).toBe('timed out');
    expect(trail(play)).toEqual(['code 1', 'tell 1']);
  });

  it('stops everything inside a nested pipeline', () => {
    const inside = [{ name: 'inner', vars: {}, steps: [runs.agentStep('deep')] }];
    const nested: StepPlan = {
      name: 'outer',
      run: { kind: 'pipeline', pipeline: 'inner', vars: {} },
      timeout_ms: 1000,
    };
    const play = start([nested], { inside });
    play.say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.pipeline().reason).toBe('step outer failed: timed out');
    expect(play.agent()).toMatchObject({ outcome: 'cancelled', killed: true });
    expect(play.starts()).toEqual([]);
  });

  it('is paused while a decision is open', () => {
    const play = start([runs.agentStep('code', { timeout_ms: 1000 })]);
    const { id } = play.agent();
    play.say(runs.started(id)).say(runs.report({ kind: 'stop' }, id));
    expect(play.owed('TimerSet')).toEqual([]);
    play.wait(5000).order(runs.resolve(play.decision().id, 1));
    expect(play.the('TimerSet').due).toBe('2026-01-01T00:00:06.000Z');
  });

  it('is cancelled when the step is over', () => {
    const play = start([runs.agentStep('code', { timeout_ms: 1000 })]);
    signal(play).say(runs.exited(play.agent().id));
    expect(play.owed('TimerSet')).toEqual([]);
  });

  it("does not involve on_dead: the agent's own timeout fails it", () => {
    const play = start([runs.agentStep('code')], { agents: [runs.agentPlan({ on_dead: { action: 'done' } })] });
    play.say(runs.exited(play.agent().id, { timed_out: true, code: null, signal: 'SIGTERM' }));
    expect(play.pipeline().reason).toBe('step code failed: timed out');
  });
});

describe('a nested pipeline', () => {
  const nested = (more: Partial<StepPlan> = {}): StepPlan => ({
    name: 'outer',
    run: { kind: 'pipeline', pipeline: 'inner', vars: { target: '${var.where}' } },
    ...more,
  });
  const inner = (steps: readonly StepPlan[]) => [{ name: 'inner', vars: { target: null, mode: 'fast' }, steps }];

  it('is its own run, and its end ends the step', () => {
    const play = start([nested(), runs.shellStep('after')], { inside: inner([runs.shellStep('deep')]) });
    const child = play.pipeline(play.pipeline().step?.childId ?? '');
    // The variables refer to the parent, and are expanded on use.
    expect(child).toMatchObject({
      name: 'inner',
      vars: { target: '${var.where}', mode: 'fast' },
      parent: { pipelineId: 'p1' },
    });
    finish(play);
    expect(play.pipeline(child.id).outcome).toBe('done');
    expect(play.pipeline().step?.name).toBe('after');
    play.checkReplay();
  });

  it('fails the step if it fails, and waits if its agent waits', () => {
    const failed = finish(start([nested()], { inside: inner([runs.shellStep('deep')]) }), 1);
    expect(failed.pipeline().reason).toBe('step outer failed: step deep failed: exit code 1');
    const play = start([nested()], { inside: inner([runs.agentStep('deep')]) });
    play.say(runs.started(play.agent().id)).say(runs.report({ kind: 'stop' }, play.agent().id));
    expect(play.the('NotificationRequested').title).toBe('Pipeline needs attention: inner');
    expect(overallPipelineStatus(play.state, play.pipeline())).toBe('waiting');
    expect(findPipelineDecision(play.state, play.pipeline())?.id).toBe(play.decision().id);
    play.order(runs.resume('p1', 'go'));
    expect(play.the('MessageRequested').text).toBe('go');
  });

  it('nested in itself ends at the depth limit', () => {
    const play = start([nested()], { inside: inner([{ ...nested(), name: 'again' }]) });
    expect(play.pipeline().outcome).toBe('failed');
    expect(play.pipeline().reason).toContain('pipelines are nested more than 16 deep');
  });

  it('that is not in the plan fails', () => {
    expect(start([nested()]).pipeline().reason).toBe('step outer failed: the plan has no pipeline inner');
  });
});

describe('a workspace', () => {
  const steps = [
    runs.shellStep('work', { workspace: { branch: 'feature/${var.x}' }, on_fail: { retries: 1 } }),
    runs.shellStep('more'),
  ];

  it('is created once before the step runs, and kept', () => {
    const play = start(steps);
    expect(play.the('WorkspaceRequested')).toMatchObject({
      pipeline_id: 'p1',
      step: 'work',
      branch: 'feature/${var.x}',
      base: null,
    });
    expect(play.owed('CommandRequested')).toEqual([]);
    play.say(runs.prepared('p1', 'work'));
    expect(play.pipeline().workspace).toMatchObject({ path: '/tree', branch: 'feature/x' });
    finish(finish(play, 1));
    expect(play.count('WorkspaceRequested')).toBe(1);
    expect(play.pipeline().step?.name).toBe('more');
    expect(play.say(runs.prepared('p1', 'work')).types()).toEqual([]);
  });

  it('that cannot be created fails the step, and is retried with it', () => {
    const play = start(steps).say(runs.unprepared('p1', 'work'));
    expect(play.types()).toEqual(['WorkspaceFailed', 'StepFinished', 'StepStarted', 'WorkspaceRequested']);
    play.say(runs.unprepared('p1', 'work'));
    expect(play.pipeline().reason).toBe('step work failed: the branch exists');
  });
});

describe('cancelling', () => {
  it('stops a command, an agent, a scheduled retry', () => {
    const command = start([runs.shellStep('a')]).order(runs.cancel('p1', 'enough'));
    expect(command.types()).toEqual([
      'PipelineCancelRequested',
      'CommandCancelled',
      'StepFinished',
      'PipelineFinished',
    ]);
    const agent = start([runs.agentStep('a')]).order(runs.cancel('p1', 'enough'));
    expect(agent.agent()).toMatchObject({ outcome: 'cancelled', reason: 'enough', killed: true });
    const waiting = finish(start([runs.shellStep('a', { on_fail: { retries: 1, cooldown_ms: 9 } })]), 1).order(
      runs.cancel('p1', 'enough'),
    );
    expect(waiting.types()).toEqual(['PipelineCancelRequested', 'TimerCancelled', 'PipelineFinished']);
    for (const play of [command, agent, waiting]) {
      expect(play.pipeline()).toMatchObject({ outcome: 'cancelled', reason: 'enough' });
      expect(play.count('NotificationRequested')).toBe(0);
      expect(play.order(runs.cancel('p1')).types()).toEqual([]);
    }
  });

  it('runs on_cancel, and ends as cancelled whatever its outcome', () => {
    const steps = [runs.shellStep('a', { on_cancel: 'clean' }), runs.shellStep('b'), runs.shellStep('clean')];
    const play = start(steps).order(runs.cancel('p1', 'enough'));
    expect(trail(play)).toEqual(['a 1', 'clean 1']);
    finish(play);
    expect(play.pipeline()).toMatchObject({ outcome: 'cancelled', reason: 'enough' });
    const twice = start(steps).order(runs.cancel('p1', 'enough')).order(runs.cancel('p1', 'now'));
    expect(twice.pipeline()).toMatchObject({ outcome: 'cancelled', reason: 'now' });
  });

  it('a parent cancels the innermost pipeline first, so that each runs its clean-up', () => {
    const inside = [
      { name: 'inner', vars: {}, steps: [runs.agentStep('deep', { on_cancel: 'mop' }), runs.shellStep('mop')] },
    ];
    const outer: StepPlan = {
      name: 'outer',
      run: { kind: 'pipeline', pipeline: 'inner', vars: {} },
      on_cancel: 'sweep',
    };
    const play = start([outer, runs.shellStep('never'), runs.shellStep('sweep')], { inside }).order(runs.cancel('p1'));
    expect(trail(play)).toEqual(['outer 1', 'deep 1', 'mop 1']);
    finish(finish(play.say(runs.exited(play.agent().id))));
    expect(trail(play).slice(3)).toEqual(['cancelled', 'sweep 1', 'cancelled']);
  });

  it('a killed agent is a cancelled step', () => {
    const play = start([runs.agentStep('code', { on_cancel: 'clean' }), runs.shellStep('x'), runs.shellStep('clean')]);
    play.order(runs.kill(play.agent().id, 'too slow'));
    expect(play.types()).toEqual(['AgentKillRequested', 'AgentEnded', 'StepFinished', 'StepStarted']);
    expect(play.starts()).toEqual([]);
    expect(play.say(runs.exited(play.agent().id)).types()).toEqual(['AgentExited', 'CommandRequested']);
    finish(play);
    expect(play.pipeline()).toMatchObject({ outcome: 'cancelled', history: { code: { reason: 'too slow' } } });
  });

  it('a finished run is refused with its outcome', () => {
    const play = finish(start([runs.shellStep('a')]));
    expect(play.refuse(runs.cancel('p1'))).toMatchObject({
      code: 'pipeline-ended',
      message: 'pipeline p1 is over: done',
    });
    expect(play.refuse(runs.cancel('nope')).code).toBe('no-such-pipeline');
  });
});

describe('retry and resume', () => {
  it('restart the waiting step, or continue it', () => {
    const waiting = () => {
      const play = start([runs.agentStep('code')]);
      return play.say(runs.started(play.agent().id)).say(runs.report({ kind: 'stop' }, play.agent().id));
    };
    expect(waiting().order(runs.retry('p1')).pipeline().step?.visit).toBe(2);
    expect(waiting().order(runs.resume('p1', 'go')).the('MessageRequested').text).toBe('go');
    expect(start([runs.agentStep('code')]).refuse(runs.resume('p1')).code).toBe('not-waiting');
    expect(start([runs.agentStep('code')]).refuse(runs.retry('p1')).code).toBe('not-waiting');
  });

  it('run a failed pipeline again from the first step, as a new run', () => {
    const play = finish(start([runs.shellStep('a')]), 1).order(runs.retry('p1', 'p2'));
    expect(play.answer).toEqual({ id: 'p2' });
    expect(play.pipeline('p2').step?.name).toBe('a');
    finish(play);
    expect(play.refuse(runs.retry('p2')).code).toBe('pipeline-ended');
    expect(play.refuse(runs.resume('p2')).code).toBe('pipeline-ended');
  });
});

describe('people are notified', () => {
  it('of the end of a pipeline or step if the runbook says so', () => {
    const done = finish(start([runs.shellStep('a', { notify: true })], { notify: true }));
    expect(done.owed('NotificationRequested').map(({ kind, title }) => [kind, title])).toEqual([
      ['done', 'Step done: main/a'],
      ['done', 'Pipeline done: main'],
    ]);
    const failed = finish(start([runs.shellStep('a')], { notify: true }), 1);
    expect(failed.the('NotificationRequested')).toMatchObject({
      kind: 'failed',
      title: 'Pipeline failed: main',
      message: 'step a failed: exit code 1',
    });
    expect(
      failed.say(runs.notified(failed.the('NotificationRequested').notification_id)).owed('NotificationRequested'),
    ).toEqual([]);
    expect(finish(start([runs.shellStep('a')])).owed('NotificationRequested')).toEqual([]);
  });
});

describe('a pipeline is started', () => {
  it('with all its variables, and none that it does not have', () => {
    const plan = runs.pipelinePlan([runs.shellStep('a')], { vars: { what: null, how: 'well' } });
    const play = new Play().order(runs.startPipeline(plan, { what: 'x' }));
    expect(play.pipeline().vars).toEqual({ what: 'x', how: 'well' });
    expect(pipelineStatus(play.pipeline())).toBe('running');
    expect(play.refuse(runs.startPipeline(plan, { what: 'x' })).code).toBe('run-exists');
    expect(play.refuse(runs.startPipeline(plan, {}, 'p2'))).toMatchObject({
      code: 'missing-variable',
      message: 'pipeline main needs a value for what',
    });
    expect(play.refuse(runs.startPipeline(plan, { what: 'x', why: 'y' }, 'p2')).code).toBe('unknown-variable');
  });
});
