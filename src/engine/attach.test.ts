import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import { ALONE, NOBODY_CAME } from './attach.ts';
import { Play } from './play.cases.ts';

const ADA = 'ada (/dev/pts/3)';

/** A running agent in a step with a time limit of one hour. */
function working(plan: Partial<AgentPlan> = {}): Play {
  const steps = [runs.agentStep('code', { timeout_ms: 3_600_000 }), runs.shellStep('ship')];
  const play = new Play().order(runs.startPipeline(runs.pipelinePlan(steps, { agents: [runs.agentPlan(plan)] })));
  return play.say(runs.started(play.agent().id));
}

/** The agent with Ada attached. */
function attached(play = working()): Play {
  const { id, start, process } = play.agent();
  play.order(runs.attach(id));
  if (process === 'running') play.say(runs.exited(id, { start, code: 143 }));
  return play.say(runs.started(id, start + 1)).say(runs.attached(id, start + 1), runs.supervisor(id));
}

function leave(play: Play, talked: boolean): Play {
  const { id, start } = play.agent();
  play.say(runs.detached(id, start, talked), runs.supervisor(id));
  return play.say(runs.exited(id, { start }));
}

describe('a person who attaches to an agent', () => {
  it("gets their own process after the agent's has stopped, while the step keeps waiting", () => {
    const play = working();
    const { id } = play.agent();
    expect(play.order(runs.attach(id)).types()).toEqual(['AgentAttachRequested', 'TimerCancelled']);
    expect(play.theStop()).toMatchObject({ agent_id: id, start: 1 });
    expect(play.say(runs.exited(id, { code: 143 })).types()).toEqual(['AgentExited', 'AgentResumeRequested']);
    expect(play.seen()).toMatchObject({ agent: 'attached', pipeline: 'running', owed: ['start 2'] });
    play.say(runs.started(id, 2)).say(runs.attached(id, 2), runs.supervisor(id));
    expect(play.newest('AgentAttached')).toEqual({ agent_id: id, start: 2, by: ADA });
    play.checkReplay();
  });

  it('is the only one: a second attach is refused and names the first person', () => {
    const play = attached();
    const { id } = play.agent();
    const refused = play.refuse(runs.attach(id, 'bob (/dev/pts/4)'));
    expect(refused).toMatchObject({ code: 'agent-attached', message: expect.stringContaining(`already: ${ADA}`) });
  });

  it('is not disturbed: reports about the agent change nothing, and messages to it wait', () => {
    const play = attached();
    const { id } = play.agent();
    for (const seen of [{ kind: 'idle', why: 'quiet' }, { kind: 'stop' }, { kind: 'prompted', prompt: '?' }] as const)
      expect(play.say(runs.report(seen), runs.supervisor(id)).types()).toEqual([]);
    play.order(runs.send(id, 'Mind the gap.'));
    leave(play, true);
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 3, message: 'Mind the gap.' });
    expect(play.owed('MessageRequested')).toEqual([]);
  });

  it('detaches, and the agent continues the conversation with a new time limit', () => {
    const play = leave(attached(), true);
    expect(play.types()).toEqual(['AgentExited', 'TimerSet', 'AgentResumeRequested']);
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 3, message: ALONE });
    play.say(runs.started(play.agent().id, 3)).say(runs.signal('complete'), runs.agent(play.agent().id));
    expect(play.pipeline().step?.name).toBe('ship');
  });

  it("detaches, and the agent gets the runbook's resume message", () => {
    const play = leave(attached(working({ on_dead: { action: 'resume', message: 'Back to work.' } })), false);
    expect(play.newest('AgentResumeRequested')).toMatchObject({ message: 'Back to work.' });
    expect(play.count('HandlerTried')).toBe(0);
  });

  it('has detached also if only the exit of the process shows it', () => {
    const play = attached();
    const { id } = play.agent();
    play.say(runs.exited(id, { start: 2, signal: 'SIGKILL', code: null }));
    expect(play.newest('AgentDetached')).toEqual({ agent_id: id, start: 2, by: ADA, how: 'lost', talked: false });
    expect(play.seen()).toMatchObject({ agent: 'starting', owed: expect.arrayContaining(['start 3']) });
  });

  it('keeps the process if the run ends meanwhile, and the pipeline continues', () => {
    const play = attached();
    const { id } = play.agent();
    play.say(runs.signal('complete'), runs.agent(id));
    expect(play.pipeline().step?.name).toBe('ship');
    expect(play.owed('TimerSet')).toEqual([]);
    expect(play.owed('AgentKillRequested')).toEqual([]);
    leave(play, true);
    expect(play.agent()).toMatchObject({ outcome: 'done', process: 'gone' });
  });

  it('cannot attach to a run that is over', () => {
    const play = working();
    const { id } = play.agent();
    play.say(runs.signal('complete'), runs.agent(id));
    expect(play.refuse(runs.attach(id)).code).toBe('agent-ended');
  });

  it('does not wait if the agent ends before it was stopped', () => {
    const play = working();
    const { id } = play.agent();
    play.order(runs.attach(id)).say(runs.signal('complete'), runs.agent(id));
    expect(play.stops()).toEqual([]);
    expect(play.say(runs.exited(id)).types()).not.toContain('AgentResumeRequested');
  });

  it('returns the conversation if their terminal cannot be opened', () => {
    const play = working();
    const { id } = play.agent();
    play
      .order(runs.attach(id))
      .say(runs.exited(id, { code: 143 }))
      .say(runs.startFailed(id, 2));
    expect(play.seen()).toMatchObject({ agent: 'starting', reason: null });
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 3, message: NOBODY_CAME });
  });

  it('who never attached is not reported as detached', () => {
    const play = working();
    const { id } = play.agent();
    play
      .order(runs.attach(id))
      .say(runs.exited(id, { code: 143 }))
      .say(runs.started(id, 2));
    play.say(runs.detached(id, 2, false, 'absent'), runs.supervisor(id)).say(runs.exited(id, { start: 2 }));
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 3, message: NOBODY_CAME });
  });
});

describe('an agent that waits for a person', () => {
  const parked = (): Play => {
    const play = working({ on_stop: { action: 'escalate' } });
    const { id } = play.agent();
    return play.say(runs.report({ kind: 'stop' }), runs.supervisor(id)).say(runs.exited(id));
  };

  it('continues if they talked with it while attached: that was the answer', () => {
    const play = leave(attached(parked()), true);
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn', reason: `${ADA} talked with the agent` });
    expect(play.seen()).toMatchObject({ agent: 'starting', asked: null, pipeline: 'running' });
  });

  it('keeps waiting if they sent nothing', () => {
    const play = leave(attached(parked()), false);
    expect(play.decision().result).toBeNull();
    expect(play.seen()).toMatchObject({ agent: 'escalated', pipeline: 'waiting' });
    play.order(runs.resolve(play.decision().id, 1, 'Go left.'));
    expect(play.newest('AgentResumeRequested')).toMatchObject({ start: 3, message: 'Go left.' });
  });

  it('gets an answer given in the meantime after they have detached', () => {
    const play = attached(parked());
    play.order(runs.resolve(play.decision().id, 1, 'Go left.'));
    // The step has no time limit while a person is attached.
    expect(play.owed('TimerSet')).toEqual([]);
    expect(leave(play, false).newest('AgentResumeRequested')).toMatchObject({ start: 3, message: 'Go left.' });
    expect(play.the('TimerSet').purpose).toMatchObject({ kind: 'step', step: 'code' });
  });

  it('keeps its question if it asks again while they are attached', () => {
    const play = attached();
    play.say(runs.signal('escalate', undefined, 'Which one?'), runs.agent(play.agent().id));
    leave(play, true);
    expect(play.decision().result).toBeNull();
    expect(play.seen()).toMatchObject({ agent: 'escalated', pipeline: 'waiting' });
  });
});
