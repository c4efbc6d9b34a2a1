import { describe, expect, it } from 'vitest';
import type { ActionOf, AgentPlan, HandlerPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import { Play } from './play.cases.ts';

function atWork(plan: Partial<AgentPlan>): Play {
  const play = new Play().order(
    runs.startPipeline(runs.pipelinePlan([runs.agentStep('code')], { agents: [runs.agentPlan(plan)] })),
  );
  return play.say(runs.started(play.agent().id));
}

function idle(play: Play): Play {
  return play.say(runs.report({ kind: 'idle', why: 'waiting' }, play.agent().id));
}

function nudging(more: Partial<HandlerPlan<ActionOf<'on_idle'>>>): Partial<AgentPlan> {
  return { on_idle: { action: 'nudge', ...more } };
}

function dieAndCount(play: Play, times: number): Play {
  for (let start = 1; start <= times; start += 1) {
    if (play.agent().process === 'wanted') play.say(runs.started(play.agent().id, start));
    play.say(runs.exited(play.agent().id, { start, code: 1 }));
  }
  return play;
}

describe('attempts', () => {
  it('default to one: the second time escalates', () => {
    const play = idle(idle(atWork(nudging({}))));
    expect(play.count('MessageRequested')).toBe(1);
    expect(play.newest('AgentParked').reason).toBe('on_idle: attempts used up');
    expect(play.the('NotificationRequested').message).toBe(
      'Agent is idle and has not signaled completion (on_idle = nudge was tried once)',
    );
    expect(play.decision().source).toBe('idle');
  });

  it('of N act N times and then escalate', () => {
    const play = atWork(nudging({ attempts: 3 }));
    for (let i = 1; i <= 3; i += 1) expect(idle(play).newest('HandlerTried').attempt).toBe(i);
    expect(play.count('DecisionOpened')).toBe(0);
    idle(play);
    expect(play.count('MessageRequested')).toBe(3);
    expect(play.the('NotificationRequested').message).toContain('(on_idle = nudge was tried 3 times)');
    play.checkReplay();
  });

  it('"forever" never escalates', () => {
    const play = atWork(nudging({ attempts: 'forever' }));
    for (let i = 0; i < 200; i += 1) idle(play);
    expect(play.count('MessageRequested')).toBe(200);
    expect(play.count('DecisionOpened')).toBe(0);
  });

  it('of a resume end at limits.resumes, even with attempts = "forever"', () => {
    const play = dieAndCount(atWork({ on_dead: { action: 'resume', attempts: 'forever' } }), 5);
    expect(play.agent()).toMatchObject({ start: 6, process: 'wanted', resumes: 5 });
    play.say(runs.started(play.agent().id, 6)).say(runs.exited(play.agent().id, { start: 6, code: 1 }));
    expect(play.agent()).toMatchObject({ start: 6, process: 'gone' });
    expect(play.decision()).toMatchObject({ source: 'dead' });
    expect(play.the('NotificationRequested').message).toContain('(on_dead = resume was tried 5 times)');
    play.checkReplay();
  });

  it('of a resume are bounded over all handlers of a run, and start again after a person resumed it', () => {
    const play = atWork({
      on_dead: { action: 'resume', attempts: 'forever' },
      on_error: { any: { action: 'resume', attempts: 'forever' } },
    });
    for (let i = 0; i < 3; i += 1)
      play.say(runs.report({ kind: 'errored', error: 'no_internet', message: '', reset_at: null }, play.agent().id));
    expect(play.agent().resumes).toBe(3);
    play.say(runs.exited(play.agent().id, { start: 1, code: 1 }));
    for (let start = 2; play.count('DecisionOpened') === 0 && start < 20; start += 1)
      play.say(runs.started(play.agent().id, start)).say(runs.exited(play.agent().id, { start, code: 1 }));
    expect(play.agent().resumes).toBe(5);
    play.order(runs.resolve(play.decision().id, 1, 'Go on.'));
    expect(play.agent().resumes).toBe(0);
  });

  it('escalates instead of a resume when the blocks are used up, and progress does not restore blocks', () => {
    const play = atWork({ on_dead: { action: 'resume', attempts: 'forever' } });
    const { id } = play.agent();
    for (let blocks = 1; blocks <= 25; blocks += 1) play.say(runs.report({ kind: 'blocked', blocks }, id));
    expect(play.count('AgentBlocked')).toBe(25);
    play.say(runs.report({ kind: 'blocked', blocks: 7 }, id));
    expect(play.agent().blocks).toBe(25);
    play.say(runs.exited(id, { start: 1, code: 0, blocks_used: true }));
    expect(play.agent()).toMatchObject({ start: 1, process: 'gone' });
    expect(play.decision().source).toBe('dead');
    expect(play.the('NotificationRequested').message).toContain('after the limit of blocked stops');
    play.checkReplay();
  });

  it('blocks of an earlier process count', () => {
    const play = atWork({ on_dead: { action: 'resume', attempts: 'forever' } });
    const { id } = play.agent();
    play.say(runs.report({ kind: 'blocked', blocks: 24 }, id)).say(runs.exited(id, { start: 1, blocks_used: true }));
    expect(play.agent()).toMatchObject({ start: 2, process: 'wanted', blocks: 24 });
    play.say(runs.started(id, 2)).say(runs.report({ kind: 'blocked', blocks: 25 }, id));
    play.say(runs.exited(id, { start: 2, blocks_used: true }));
    expect(play.decision().source).toBe('dead');
  });

  it('are counted for each handler separately', () => {
    const play = atWork({ ...nudging({ attempts: 1 }), on_dead: { action: 'resume', attempts: 2 } });
    idle(play);
    dieAndCount(play, 2);
    expect(play.agent().tries).toMatchObject({ on_idle: { count: 1 }, on_dead: { count: 2 } });
    expect(play.agent()).toMatchObject({ start: 3, process: 'wanted' });
    play
      .say(runs.started(play.agent().id, 3))
      .say(runs.exited(play.agent().id, { start: 3, signal: 'SIGKILL', code: null }));
    expect(play.decision()).toMatchObject({ source: 'dead' });
    expect(play.the('NotificationRequested').message).toBe(
      'Agent ended without signaling completion (signal SIGKILL) (on_dead = resume was tried 2 times)',
    );
  });

  it('start again after a person resumed the agent', () => {
    const play = idle(idle(atWork(nudging({}))));
    play.order(runs.resolve(play.decision().id, 1, 'Go on.'));
    expect(play.owed('MessageRequested').at(-1)?.text).toBe('Go on.');
    expect(play.agent().tries).toEqual({});
    expect(idle(play).count('MessageRequested')).toBe(3);
    expect(play.count('DecisionOpened')).toBe(1);
  });

  it('do not count for a limit that was lifted', () => {
    const play = atWork({});
    const limited = runs.report(
      { kind: 'errored', error: 'rate_limited', message: 'm', reset_at: null },
      play.agent().id,
    );
    for (let i = 0; i < 3; i += 1) {
      play.say(limited).say(limited);
      play.say(runs.fire(play.the('TimerSet').timer_id)).say(runs.deliver(play.the('MessageRequested').message_id));
    }
    expect(play.count('DecisionOpened')).toBe(0);
    expect(play.count('TimerSet')).toBe(3);
  });
});

describe('a cooldown', () => {
  const plan = nudging({ attempts: 2, cooldown_ms: 60_000 });

  it('delays the second action and then runs it', () => {
    const play = idle(atWork(plan)).wait(20_000);
    idle(play);
    expect(play.count('MessageRequested')).toBe(1);
    expect(play.the('TimerSet')).toMatchObject({
      due: '2026-01-01T00:01:00.000Z',
      purpose: { kind: 'handler', handler: 'on_idle' },
    });
    expect(idle(play).types()).toEqual(['AgentIdle']);
    play.wait(40_000).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.types()).toEqual(['TimerFired', 'HandlerTried', 'MessageRequested']);
    expect(play.newest('HandlerTried').attempt).toBe(2);
    expect(idle(play).decision().source).toBe('idle');
    play.checkReplay();
  });

  it('is not longer if the clock was set back', () => {
    const play = idle(idle(atWork(plan)).wait(-3_600_000));
    expect(play.the('TimerSet').due).toBe('2025-12-31T23:01:00.000Z');
  });

  it('that has passed delays nothing', () => {
    expect(idle(idle(atWork(plan)).wait(60_000)).count('MessageRequested')).toBe(2);
  });

  it.each([
    ['it signalled', (play: Play) => play.say(runs.signal('complete'), runs.agent(play.agent().id))],
    ['its process has gone', (play: Play) => play.say(runs.exited(play.agent().id))],
    ['it says that it goes on', (play: Play) => play.say(runs.signal('continue'), runs.agent(play.agent().id))],
    ['a person was called', (play: Play) => play.say(runs.report({ kind: 'stop' }, play.agent().id))],
    ['it was killed', (play: Play) => play.order(runs.kill(play.agent().id))],
  ])('comes to nothing where %s meanwhile', (_, meanwhile) => {
    const play = idle(idle(atWork(plan)));
    const { timer_id: timerId } = play.the('TimerSet');
    meanwhile(play).wait(60_000).say(runs.fire(timerId));
    expect(play.types()).toEqual([]);
    expect(play.count('MessageRequested')).toBe(1);
  });

  it('of on_dead ends with a new process', () => {
    const play = dieAndCount(atWork({ on_dead: { action: 'resume', attempts: 'forever', cooldown_ms: 1000 } }), 2);
    expect(play.agent()).toMatchObject({ start: 2, process: 'gone', outcome: null });
    play.wait(1000).say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.theStart().start).toBe(3);
  });
});

describe('a gate', () => {
  const gated = (attempts: number, cooldown_ms = 0) =>
    idle(atWork({ on_idle: { action: 'gate', run: 'npm test', attempts, cooldown_ms } }));

  it('that fails is retried up to its attempts, and then escalates', () => {
    const play = gated(3);
    for (let i = 1; i <= 3; i += 1) {
      expect(play.newest('HandlerTried').attempt).toBe(i);
      play.say(runs.finish(play.the('CommandRequested').command_id, 7, { output: `output ${i}` }));
    }
    expect(play.count('CommandRequested')).toBe(3);
    expect(play.decision()).toMatchObject({
      source: 'gate',
      context: 'Gate failed: npm test (exit code 7) (on_idle = gate was tried 3 times)\n\noutput 3',
      options: [{ action: 'retry', recommended: true }, { action: 'done' }, { action: 'cancel' }],
    });
    expect(play.newest('AgentParked').reason).toBe('on_idle: attempts used up');
  });

  it('waits for its cooldown between two attempts', () => {
    const play = gated(2, 5000);
    play.say(runs.finish(play.the('CommandRequested').command_id, 1));
    expect(play.owed('CommandRequested')).toEqual([]);
    play.wait(5000).say(runs.fire(play.the('TimerSet').timer_id));
    play.say(runs.finish(play.the('CommandRequested').command_id, 0));
    expect(play.pipeline().outcome).toBe('done');
  });

  it('that timed out has failed', () => {
    const play = gated(1);
    play.say(runs.finish(play.the('CommandRequested').command_id, null, { timed_out: true }));
    expect(play.the('NotificationRequested').message).toBe(
      'Gate failed: npm test (timed out) (on_idle = gate was tried once)',
    );
  });

  it('runs once at a time, and is cancelled when the run ends', () => {
    const play = idle(gated(3));
    const { command_id: commandId } = play.the('CommandRequested');
    play.say(runs.signal('complete'), runs.agent(play.agent().id));
    expect(play.types()).toContain('CommandCancelled');
    expect(play.say(runs.finish(commandId, 1)).types()).toEqual([]);
    expect(play.pipeline().outcome).toBe('done');
  });

  it.each(['on_dead', 'on_error', 'on_prompt'] as const)('works for %s', (handler) => {
    const gate = { action: 'gate', run: 'check' } as const;
    const play = atWork(handler === 'on_error' ? { on_error: { any: gate } } : { [handler]: gate });
    const { id } = play.agent();
    if (handler === 'on_dead') play.say(runs.exited(id));
    if (handler === 'on_error')
      play.say(runs.report({ kind: 'errored', error: 'unauthorized', message: '', reset_at: null }, id));
    if (handler === 'on_prompt') play.say(runs.report({ kind: 'prompted', prompt: '?' }, id));
    play.say(runs.finish(play.the('CommandRequested').command_id, 1));
    expect(play.decision().source).toBe('gate');
  });
});

describe('an error with a scheduled wait', () => {
  it('does not count as idle while the agent waits for the reset', () => {
    const play = atWork({});
    const { id } = play.agent();
    play.say(runs.report({ kind: 'errored', error: 'rate_limited', message: 'm', reset_at: null }, id));
    idle(play);
    expect(play.count('DecisionOpened')).toBe(0);
    play.say(runs.fire(play.the('TimerSet').timer_id)).say(runs.deliver(play.the('MessageRequested').message_id));
    expect(idle(play).decision().source).toBe('idle');
  });

  it('does not count as dead if the process exits before the reset', () => {
    const play = atWork({ on_dead: { action: 'fail' } });
    const { id } = play.agent();
    play
      .say(runs.report({ kind: 'errored', error: 'rate_limited', message: 'm', reset_at: null }, id))
      .say(runs.exited(id));
    expect(play.agent()).toMatchObject({ outcome: null, process: 'gone' });
    play.say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.theStart().start).toBe(2);
    expect(play.agent().resume).toEqual({ message: 'Continue where you stopped.', append: false });
  });

  it('does not count as dead if the process exits after the reset', () => {
    const play = atWork({ on_dead: { action: 'fail' } });
    const { id } = play.agent();
    play.say(runs.report({ kind: 'errored', error: 'rate_limited', message: 'm', reset_at: null }, id));
    play.say(runs.fire(play.the('TimerSet').timer_id)).say(runs.exited(id, { code: 1 }));
    expect(play.agent()).toMatchObject({
      start: 2,
      process: 'wanted',
      resume: { message: 'Continue where you stopped.' },
    });
    play.say(runs.started(id, 2)).say(runs.exited(id, { start: 2, code: 1 }));
    expect(play.agent().reason).toBe('on_dead: fail');
    play.checkReplay();
  });

  it('sends an undelivered message to the next process', () => {
    const play = atWork({
      on_error: { any: { action: 'resume', message: 'Try again.' } },
      on_dead: { action: 'fail' },
    });
    const { id } = play.agent();
    play
      .say(runs.report({ kind: 'errored', error: 'no_internet', message: 'm', reset_at: null }, id))
      .say(runs.exited(id));
    expect(play.owed('MessageRequested')).toEqual([]);
    expect(play.agent()).toMatchObject({ start: 2, process: 'wanted', resume: { message: 'Try again.' } });
    // After delivery of the message, an exit counts as dead.
    play.say(runs.started(id, 2)).say(runs.exited(id, { start: 2 }));
    expect(play.agent().reason).toBe('on_dead: fail');
  });
});
