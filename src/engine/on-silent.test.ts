import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../protocol/run-plan.ts';
import { agentStatus } from '../state/runs/agent-run.ts';
import { pipelineStatus } from '../state/runs/pipeline-run.ts';
import * as runs from '../state/runs/say.cases.ts';
import { RESTARTED } from './agent-events.ts';
import { Play } from './play.cases.ts';

const MINUTE = 60_000;

function working(plan: Partial<AgentPlan> = {}): Play {
  const whole = runs.pipelinePlan([runs.agentStep('code')], { agents: [runs.agentPlan(plan)] });
  const play = new Play().order(runs.startPipeline(whole));
  return play.say(runs.started(play.agent().id));
}

function silent(play: Play, what: 'turn' | 'tool' = 'turn', start = play.agent().start): Play {
  const { id } = play.agent();
  const report = { kind: 'silent', start, what, for_ms: 10 * MINUTE, tool: what === 'tool' ? 'Bash' : null } as const;
  return play.say(runs.report(report, id), runs.supervisor(id));
}

function heard(play: Play, start = play.agent().start): Play {
  const { id } = play.agent();
  return play.say(runs.report({ kind: 'heard', start }, id), runs.supervisor(id));
}

describe('an agent that is silent in a turn', () => {
  it('opens one decision and waits for it', () => {
    const play = silent(working());
    expect(play.types()).toEqual([
      'AgentSilent',
      'DecisionOpened',
      'NotificationRequested',
      'StepWaiting',
      'AgentParked',
    ]);
    expect(play.decision()).toMatchObject({
      source: 'idle',
      context: 'The agent has been silent for 10 min in the middle of a turn: no output, hook, usage or tool event',
    });
    expect(play.newest('AgentParked').reason).toBe('limits.silence');
    expect(play.decision().options.map(({ action }) => action)).toEqual([
      'resume',
      'dismiss',
      'nudge',
      'retry',
      'cancel',
    ]);
    expect(silent(play).types()).toEqual([]);
    play.checkReplay();
  });

  it('is named with the tool if a tool call takes too long, and waiting is recommended', () => {
    const play = silent(working(), 'tool');
    expect(play.decision().context).toBe('A tool call of the agent has been open for 10 min: Bash');
    expect(play.newest('AgentParked').reason).toBe('limits.tool');
    expect(play.decision().options[0]).toEqual({ label: 'Wait longer', action: 'dismiss', recommended: true });
  });

  it.each(['on_error', 'on_prompt'] as const)('is expected to be silent while %s is busy with it', (handler) => {
    const play = working({ on_prompt: { action: 'gate', run: 'true' } });
    const { id } = play.agent();
    const limit = { kind: 'errored', error: 'rate_limited', message: '', reset_at: null } as const;
    play.say(runs.report(handler === 'on_error' ? limit : { kind: 'prompted', prompt: '?' }, id), runs.supervisor(id));
    expect(silent(play).types()).toEqual(['AgentSilent']);
  });

  it('causes no decision if it is parked, attached, over, or in an earlier process', () => {
    const parked = working();
    const { id } = parked.agent();
    parked.say(runs.report({ kind: 'stop' }, id), runs.supervisor(id));
    expect(silent(parked).types()).toEqual([]);
    const attaching = working().order(runs.attach(id));
    expect(silent(attaching).types()).toEqual([]);
    const done = working().say(runs.signal('complete'), runs.agent(id));
    expect(silent(done).types()).toEqual([]);
    const restarted = working({ on_dead: { action: 'resume' } })
      .say(runs.exited(id))
      .say(runs.started(id, 2));
    expect(silent(restarted, 'turn', 1).types()).toEqual([]);
    expect(silent(restarted, 'turn', 2).types()).toContain('DecisionOpened');
  });
});

describe('an agent that reports again', () => {
  it('withdraws the decision and continues with its counts', () => {
    const play = working({ on_dead: { action: 'resume', attempts: 'forever' } });
    const { id } = play.agent();
    play.say(runs.exited(id)).say(runs.started(id, 2));
    heard(silent(play));
    expect(play.types()).toEqual(['AgentHeard', 'DecisionWithdrawn', 'AgentUnparked', 'StepResumed']);
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn', reason: 'the agent became active again' });
    expect(play.agent()).toMatchObject({ parked: null, resumes: 1 });
    expect(agentStatus(play.agent())).toBe('running');
    expect(pipelineStatus(play.pipeline())).toBe('running');
    expect(silent(play).types()).toContain('DecisionOpened');
    play.checkReplay();
  });

  it('changes nothing if no decision about its silence is open', () => {
    const play = working();
    expect(heard(play).types()).toEqual([]);
    const { id } = play.agent();
    play.say(runs.report({ kind: 'stop' }, id), runs.supervisor(id));
    expect(heard(play).types()).toEqual([]);
    const answered = silent(working());
    answered.order(runs.resolve(answered.decision().id, 2));
    expect(heard(answered).types()).toEqual([]);
    expect(heard(silent(working()), 2).types()).toEqual([]);
  });
});

describe('an agent that escalates while a decision about its silence is open', () => {
  const escalated = (what: 'turn' | 'tool'): Play => {
    const play = silent(working(), what);
    return play.say(runs.signal('escalate', undefined, 'Which schema?'), runs.agent(play.agent().id));
  };

  it.each(['turn', 'tool'] as const)('replaces the decision about its silent %s, and keeps its own', (what) => {
    const play = escalated(what);
    const open = (): unknown[] => [...play.state.decisions.values()].filter(({ result }) => result === null);
    expect(open()).toMatchObject([{ source: 'stop', context: 'Which schema?' }]);
    expect(play.agent().parked).toBe(play.decision().id);
    // The report that ends the silence may arrive after the signal.
    heard(play);
    expect(open()).toMatchObject([{ source: 'stop' }]);
    play.checkReplay();
  });
});

describe('the answer to a silence', () => {
  function answer(action: string, message?: string): Play {
    const play = silent(working());
    const option = play.decision().options.findIndex((each) => each.action === action) + 1;
    return play.order(runs.resolve(play.decision().id, option, message));
  }

  it('wait longer changes nothing else', () => {
    const play = answer('dismiss');
    expect(play.types()).toEqual(['DecisionResolved', 'AgentUnparked', 'StepResumed']);
    expect(silent(play).types()).toContain('DecisionOpened');
  });

  it.each(['nudge', 'dismiss'])('a message is sent to the running process (%s)', (action) => {
    expect(answer(action, 'Still there?').the('MessageRequested').text).toBe('Still there?');
  });

  it('restart ends the process, and the next one continues the conversation', () => {
    const play = answer('resume');
    expect(play.theStop()).toMatchObject({ start: 1 });
    play.say(runs.exited(play.agent().id, { signal: 'SIGTERM', code: null }));
    expect(play.types()).toEqual(['AgentExited', 'AgentResumeRequested']);
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 2, message: RESTARTED, append: false });
    expect(play.stops()).toEqual([]);
    expect(play.agent().restart).toBe(undefined);
    play.checkReplay();
  });

  it("restart passes on the person's message, even if another person attaches in the meantime", () => {
    expect(answer('resume', 'Use SQLite.').newest('AgentRestartRequested').message).toBe('Use SQLite.');
    const play = answer('resume', 'Use SQLite.');
    const { id } = play.agent();
    play.order(runs.attach(id)).say(runs.exited(id));
    expect(play.newest('AgentResumeRequested').message).toBe('Use SQLite.');
  });

  it('restart of an exited process resumes at once', () => {
    const play = silent(working());
    play.say(runs.exited(play.agent().id));
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 2, message: RESTARTED });
  });

  it('cancel kills it', () => {
    const play = answer('cancel');
    expect(play.the('AgentKillRequested').reason).toContain('decision: cancel');
  });
});
