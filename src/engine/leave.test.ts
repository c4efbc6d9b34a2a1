import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../protocol/run-plan.ts';
import { agentStatus } from '../state/runs/agent-run.ts';
import * as runs from '../state/runs/say.cases.ts';
import { standingOf } from '../state/runs/standing.ts';
import { Play } from './play.cases.ts';

function working(plan: Partial<AgentPlan> = {}): Play {
  const steps = [runs.agentStep('code'), runs.shellStep('ship')];
  const play = new Play().order(runs.startPipeline(runs.pipelinePlan(steps, { agents: [runs.agentPlan(plan)] })));
  return play.say(runs.started(play.agent().id));
}

const idle = runs.report({ kind: 'idle', why: 'stop' });

describe('an agent whose run is over', () => {
  /** `on_stop = idle` with `on_idle = done`: the step has already ended. */
  const orphaned = () => {
    const play = working({ on_stop: { action: 'idle' }, on_idle: { action: 'done' } });
    return play.say(idle, runs.supervisor(play.agent().id));
  };

  it('may exit, and the next step starts after that', () => {
    const play = orphaned();
    expect(play.owed('CommandRequested')).toEqual([]);
    expect(standingOf(play.state, play.agent().id, false)).toMatchObject({ is_owned: false, has_signalled: false });
    expect(agentStatus(play.agent())).toBe('leaving');
    expect(play.say(runs.exited(play.agent().id, { code: 9 })).types()).toEqual([
      'AgentExited',
      'TimerCancelled',
      'CommandRequested',
    ]);
    expect(play.pipeline().step?.name).toBe('ship');
    expect(agentStatus(play.agent())).toBe('done');
  });

  it('ignores later reports', () => {
    const play = orphaned();
    const { id } = play.agent();
    expect(play.say(idle, runs.supervisor(id)).types()).toEqual([]);
    expect(play.say(runs.report({ kind: 'stop' }), runs.supervisor(id)).types()).toEqual([]);
    expect(play.say(runs.signal('complete'), runs.agent(id)).types()).toEqual([]);
    expect(play.refuse(runs.signal('escalate'), runs.agent(id)).message).toBe(`the run of agent ${id} is over: done`);
    expect(play.refuse(runs.send(id, 'hello')).code).toBe('agent-ended');
  });

  it('is killed if it does not exit in time', () => {
    const play = orphaned();
    expect(play.the('TimerSet')).toMatchObject({ due: '2026-01-01T00:01:00.000Z', purpose: { kind: 'leave' } });
    play.say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.the('AgentKillRequested').reason).toBe('the run is over, but the process did not exit in time');
    play.say(runs.exited(play.agent().id, { signal: 'SIGKILL', code: null }));
    expect(play.owed('AgentKillRequested')).toEqual([]);
    expect(play.pipeline().step?.name).toBe('ship');
  });

  it('is refused if it was never known', () => {
    expect(standingOf(new Play().state, 'ghost', true)).toEqual({
      at: 0,
      has_signalled: false,
      is_owned: false,
      is_parked: false,
      missing: [],
    });
  });
});

describe('an agent that exits without a signal', () => {
  it('after the limit of blocked stops is recorded, and nothing advances by itself', () => {
    const play = working();
    play.say(runs.exited(play.agent().id, { blocks_used: true }));
    expect(play.newest('AgentExited').blocks_used).toBe(true);
    expect(play.the('NotificationRequested').message).toBe(
      'Agent ended without signaling completion (exit code 0, after the limit of blocked stops)',
    );
    expect(play.pipeline().step).toMatchObject({ name: 'code', status: 'waiting' });
  });

  it.each([false, true])('gets an undelivered message in its next process', (blocks_used) => {
    const play = working();
    const { id } = play.agent();
    play.say(runs.report({ kind: 'stop' }, id), runs.supervisor(id));
    play.order(runs.resolve(play.decision().id, 1, 'Take the first'));
    const { message_id: messageId } = play.the('MessageRequested');
    play.say(runs.exited(id, { blocks_used }));
    expect(play.types()).toEqual(['AgentExited', 'MessageDelivered', 'AgentResumeRequested']);
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 2, message: 'Take the first' });
    expect(play.say(runs.deliver(messageId, false)).types()).toEqual([]);
    expect(play.count('DecisionOpened')).toBe(1);
    play.checkReplay();
  });

  it('after an error that a person answered meanwhile gets the answer in its next process', () => {
    const play = working({ on_error: { any: { action: 'escalate' } }, on_dead: { action: 'fail' } });
    const { id } = play.agent();
    play.say(
      runs.report({ kind: 'errored', error: 'unauthorized', message: 'm', reset_at: null }, id),
      runs.supervisor(id),
    );
    play.order(runs.resolve(play.decision().id, 1, 'Go on.')).say(runs.exited(id, { code: 1 }));
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 2, message: 'Go on.' });
    // After delivery of the message, an exit counts as dead.
    play.say(runs.started(id, 2)).say(runs.exited(id, { start: 2, code: 1 }));
    expect(play.agent().reason).toBe('on_dead: fail');
    play.checkReplay();
  });

  it('in a crash during a delivery is dead', () => {
    const play = working();
    const { id } = play.agent();
    play.say(runs.report({ kind: 'stop' }, id), runs.supervisor(id)).order(runs.resolve(play.decision().id, 1));
    play.say(runs.exited(id, { code: 1 }));
    expect(play.newest('AgentParked').reason).toBe('on_dead: escalate');
  });

  it('is dead once for each process', () => {
    const play = working({ on_dead: { action: 'resume', attempts: 'forever' } });
    const { id } = play.agent();
    play.say(runs.exited(id)).say(runs.exited(id));
    expect(play.types()).toEqual([]);
    expect(play.agent().start).toBe(2);
    expect(play.refuse(runs.exited(id, { start: 3 }), runs.supervisor(id)).code).toBe('unknown-start');
    play.say(runs.started(id, 2)).say(runs.started(id, 2)).say(runs.started(id, 1));
    expect(play.types()).toEqual([]);
  });

  it('before its start was reported still counts as exited', () => {
    const play = new Play().order(runs.startAgent()).say(runs.exited('a1'));
    expect(play.starts()).toEqual([]);
    expect(play.say(runs.started('a1')).types()).toEqual([]);
  });
});

describe('killing', () => {
  it('a standalone run cancels it, once', () => {
    const play = new Play().order(runs.startAgent()).say(runs.started('a1')).order(runs.kill('a1', 'enough'));
    expect(play.types()).toEqual(['AgentKillRequested', 'AgentEnded']);
    expect(play.agent()).toMatchObject({ outcome: 'cancelled', reason: 'enough' });
    expect(play.order(runs.kill('a1')).types()).toEqual([]);
    expect(play.count('NotificationRequested')).toBe(0);
  });

  it('an agent that has not started prevents its start', () => {
    const play = new Play().order(runs.startAgent()).order(runs.kill('a1'));
    expect(play.starts()).toEqual([]);
    play.say(runs.startFailed('a1', 1, 'killed before it was there'));
    expect(play.owed('AgentKillRequested')).toEqual([]);
    expect(play.agent().over).not.toBeNull();
  });

  it('an exited agent that waits for a person only ends the run', () => {
    const play = new Play().order(runs.startAgent()).say(runs.exited('a1')).order(runs.kill('a1'));
    expect(play.types()).toEqual(['AgentKillRequested', 'DecisionWithdrawn', 'AgentEnded']);
    expect(play.owed('AgentKillRequested')).toEqual([]);
  });

  it('an unknown agent is refused', () => {
    expect(new Play().refuse(runs.kill('ghost')).code).toBe('no-such-agent');
  });
});
