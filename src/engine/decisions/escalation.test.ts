import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import { agentStatus } from '../../state/runs/agent-run.ts';
import { pipelineStatus } from '../../state/runs/pipeline-run.ts';
import type { DecisionAction } from '../../state/runs/decision.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { claim, create, operate, session, worker } from '../../state/say.cases.ts';
import { Play } from '../play.cases.ts';

function pipeline(plan: Partial<AgentPlan> = {}, rest = [runs.shellStep('ship')]): Play {
  const steps = [runs.agentStep('code'), ...rest];
  const play = new Play().order(runs.startPipeline(runs.pipelinePlan(steps, { agents: [runs.agentPlan(plan)] })));
  return play.say(runs.started(play.agent().id));
}

function standalone(plan: Partial<AgentPlan> = {}): Play {
  return new Play().order(runs.startAgent(runs.agentPlan(plan))).say(runs.started('a1'));
}

function stop(play: Play): Play {
  return play.say(runs.report({ kind: 'stop' }, play.agent().id), runs.supervisor(play.agent().id));
}

describe('an escalation', () => {
  it('in a pipeline records the entries of the specification in order', () => {
    const play = stop(pipeline());
    expect(play.types()).toEqual([
      'AgentStop',
      'DecisionOpened',
      'NotificationRequested',
      'StepWaiting',
      'AgentParked',
    ]);
    expect(play.newest('NotificationRequested')).toMatchObject({
      kind: 'attention',
      title: 'Pipeline needs attention: main',
      message: 'Agent tried to stop without signaling completion',
      decision_id: play.decision().id,
    });
    expect(play.newest('StepWaiting').reason).toBe('on_stop: escalate');
  });

  it('works for a standalone run', () => {
    const play = stop(standalone());
    expect(play.types()).toEqual(['AgentStop', 'DecisionOpened', 'NotificationRequested', 'AgentParked']);
    expect(play.newest('NotificationRequested')).toMatchObject({
      title: 'Agent needs attention: coder',
      message: 'Agent tried to stop without signaling completion',
    });
    expect(play.newest('AgentParked').reason).toBe('on_stop: escalate');
    expect(agentStatus(play.agent())).toBe('escalated');
  });

  it('opens one decision, whatever else escalates', () => {
    const play = stop(pipeline());
    const { id } = play.agent();
    const watcher = runs.supervisor(id);
    stop(play).say(runs.report({ kind: 'idle', why: 'stop' }, id), watcher);
    play.say(runs.report({ kind: 'prompted', prompt: '?' }, id), watcher).say(runs.signal('escalate'), runs.agent(id));
    play.say(runs.exited(id, { blocks_used: true }), watcher);
    expect(play.count('NotificationRequested')).toBe(1);
    expect(play.count('DecisionOpened')).toBe(1);
    play.checkReplay();
  });

  it('by the agent itself carries its message, and its next stop is allowed', () => {
    const play = pipeline();
    play.say(runs.signal('escalate', undefined, 'Which database?'), runs.agent(play.agent().id));
    expect(play.decision()).toMatchObject({ source: 'stop', context: 'Which database?' });
    expect(play.the('NotificationRequested').message).toBe('Which database?');
    expect(play.pipeline().step?.reason).toBe('agent:signal escalate');
    play.order(runs.resolve(play.decision().id, 1, 'SQLite.'));
    expect(play.agent()).toMatchObject({ signal: null, parked: null });
    expect(play.the('MessageRequested').text).toBe('SQLite.');
  });

  it('parks the agent: it may exit and does not count as dead', () => {
    const play = stop(pipeline({ on_dead: { action: 'fail' } }));
    play.say(runs.exited(play.agent().id));
    expect(play.types()).toEqual(['AgentExited']);
    expect(pipelineStatus(play.pipeline())).toBe('waiting');
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.types()).toEqual(['DecisionResolved', 'AgentUnparked', 'StepResumed', 'AgentResumeRequested']);
    expect(play.theStart().start).toBe(2);
    play.checkReplay();
  });

  it('keeps it parked if its time runs out or a message fails before the answer', () => {
    const play = standalone({ on_idle: { action: 'nudge' } });
    play.say(runs.report({ kind: 'idle', why: 'waiting' }, 'a1'));
    const { message_id: messageId } = play.the('MessageRequested');
    stop(play).say(runs.deliver(messageId, false, 'it is leaving'));
    expect(play.types()).toEqual(['MessageDelivered']);
    play.say(runs.exited('a1', { timed_out: true, code: null, signal: 'SIGTERM' }));
    expect(agentStatus(play.agent())).toBe('escalated');
    expect(play.count('DecisionOpened')).toBe(1);
  });

  it('is withdrawn when the agent completes after all', () => {
    const play = stop(pipeline());
    play.say(runs.signal('complete', undefined, 'found it'), runs.agent(play.agent().id));
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn', reason: 'the run has ended: done' });
    expect(play.pipeline().step?.name).toBe('ship');
    expect(play.refuse(runs.resolve(play.decision().id, 1)).code).toBe('decision-withdrawn');
  });

  it('follows from a message that cannot be delivered', () => {
    const play = pipeline({ on_idle: { action: 'nudge' } });
    play.say(runs.report({ kind: 'idle', why: 'waiting' }, play.agent().id));
    play.say(runs.deliver(play.the('MessageRequested').message_id, false, 'it takes no input'));
    expect(play.the('NotificationRequested').message).toBe('A message could not be delivered: it takes no input');
  });
});

/**
 * The options of each source, the recommended one first. Approval of a prompt that cannot be parsed is not recommended.
 */
const OPTIONS = {
  stop: ['nudge', 'done', 'retry', 'cancel'],
  idle: ['nudge', 'done', 'retry', 'cancel'],
  dead: ['resume', 'retry', 'skip', 'cancel'],
  error: ['resume', 'retry', 'cancel'],
  gate: ['retry', 'done', 'cancel'],
  prompt: ['approve', 'deny', 'cancel'],
} as const;
type Source = keyof typeof OPTIONS;

const LABELS: Readonly<Record<(typeof OPTIONS)[Source][number], string>> = {
  nudge: 'Tell the agent to continue',
  done: 'Mark as done',
  retry: 'Restart',
  resume: 'Resume',
  skip: 'Skip',
  cancel: 'Cancel',
  approve: 'Approve',
  deny: 'Deny',
};

const ASK: Readonly<Record<Source, (play: Play, id: string) => void>> = {
  stop: (play) => void stop(play),
  idle: (play, id) => void play.say(runs.report({ kind: 'idle', why: 'waiting' }, id)),
  dead: (play, id) => void play.say(runs.exited(id)),
  error: (play, id) =>
    void play.say(runs.report({ kind: 'errored', error: 'unauthorized', message: 'm', reset_at: null }, id)),
  gate(play, id) {
    play
      .say(runs.report({ kind: 'idle', why: 'waiting' }, id))
      .say(runs.finish(play.the('CommandRequested').command_id, 1));
  },
  prompt: (play, id) => void play.say(runs.report({ kind: 'prompted', prompt: '?' }, id)),
};

function asked(source: Source, where: 'pipeline' | 'standalone', leaves = false): Play {
  const plan: Partial<AgentPlan> = source === 'gate' ? { on_idle: { action: 'gate', run: 'check' } } : {};
  const play = where === 'pipeline' ? pipeline(plan) : standalone(plan);
  ASK[source](play, play.agent().id);
  expect(play.decision().source).toBe(source);
  if (leaves && play.agent().process !== 'gone') play.say(runs.exited(play.agent().id));
  return play;
}

const choices = (Object.keys(OPTIONS) as Source[]).flatMap((source) =>
  // oxlint-disable-line typescript/no-unsafe-type-assertion
  OPTIONS[source].flatMap((action, i) =>
    (['pipeline', 'standalone'] as const).flatMap((where) =>
      [false, true].map(
        (leaves) => [source, action, where, leaves || source === 'dead' ? 'gone' : 'there', i + 1] as const,
      ),
    ),
  ),
);

describe('a decision', () => {
  it.each(choices)('of source %s: %s, %s, its process %s', (source, action, where, process, option) => {
    const play = asked(source, where, process === 'gone');
    const first = play.agent();
    const { id, options } = play.decision();
    expect(options.map((each) => each.action)).toEqual(OPTIONS[source]);
    expect(options.map((each) => each.label)).toEqual(OPTIONS[source].map((each) => LABELS[each]));
    const recommended = source === 'prompt' ? 1 : 0;
    expect(options.map((each) => each.recommended)).toEqual(options.map((_, i) => i === recommended));
    play.order(runs.resolve(id, option, 'because'));
    expect(play.decision(id).result).toMatchObject({
      kind: 'resolved',
      option,
      action,
      by: 'operator:ann',
      message: 'because',
    });
    expect(after(play, first.id)).toEqual(expected(action, where, process));
    play.checkReplay();
  });

  /** The state of the first agent, the messages sent, and the state of the pipeline. */
  function after(play: Play, first: string): unknown {
    const { outcome, parked, reason, resume } = play.agent(first);
    const run = play.state.pipelines.get('p1');
    const started = play.starts().map(({ agent_id, start }) => [agent_id === first, start]);
    const told = [
      ...play.owed('MessageRequested').map(({ text }) => text),
      ...(resume === null ? [] : [resume.message]),
    ];
    const at = run === undefined ? null : (run.outcome ?? [run.step?.name, run.step?.visit, run.step?.status]);
    return { outcome, reason, parked: outcome === null && parked !== null, started, told, at };
  }

  function expected(action: DecisionAction, where: string, process: string): unknown {
    const isGone = process === 'gone';
    const open = { outcome: null, reason: null, parked: false, started: [], told: [] };
    const at = (place: unknown): unknown => (where === 'pipeline' ? place : null);
    switch (action) {
      case 'nudge':
      case 'resume':
      case 'approve':
      case 'deny':
        return { ...open, started: isGone ? [[true, 2]] : [], told: ['because'], at: at(['code', 1, 'running']) };
      case 'retry':
        return {
          ...open,
          outcome: 'cancelled',
          reason: 'decision: retry: because',
          // In a pipeline the new agent starts after the old one's process has exited.
          started: where === 'pipeline' && !isGone ? [] : [[false, 1]],
          at: at(['code', 2, 'running']),
        };
      case 'cancel':
        return { ...open, outcome: 'cancelled', reason: 'decision: cancel: because', at: at('cancelled') };
      default:
        return { ...open, outcome: 'done', reason: `decision: ${action}: because`, at: at(['ship', 1, 'running']) };
    }
  }

  it('without a message uses a default message', () => {
    const said = (source: Source, option: number): string => {
      const play = asked(source, 'standalone');
      return play.order(runs.resolve(play.decision().id, option)).the('MessageRequested').text;
    };
    expect(said('stop', 1)).toMatch(/^Continue your work/);
    expect(said('error', 1)).toBe('Continue where you stopped.');
    expect(said('prompt', 1)).toBe('Approved. Continue.');
    expect(said('prompt', 2)).toBe('Denied. Find another way, or escalate.');
  });

  it('is answered once: the same option again gets the first answer, another one is refused', () => {
    const play = asked('stop', 'pipeline');
    const { id } = play.decision();
    play.order(runs.resolve(id, 1, 'go'));
    const { answer } = play;
    expect(play.order(runs.resolve(id, 1, 'go')).types()).toEqual([]);
    expect(play.answer).toEqual(answer);
    expect(play.refuse(runs.resolve(id, 2))).toMatchObject({
      code: 'decision-resolved',
      message: `decision ${id} was resolved by operator:ann at 2026-01-01T00:00:00.000Z: 1 (Tell the agent to continue)`,
    });
    expect(play.refuse(runs.resolve(id, 9)).code).toBe('no-such-option');
    expect(play.refuse(runs.resolve('nope', 1)).code).toBe('no-such-decision');
  });

  it('is answered by a message to the agent, if a message is an answer', () => {
    const play = asked('stop', 'standalone').order(runs.send('a1', 'Use tabs.'));
    expect(play.decision().result).toMatchObject({ kind: 'resolved', action: 'nudge', message: 'Use tabs.' });
    expect(play.the('MessageRequested').text).toBe('Use tabs.');
    expect(asked('gate', 'standalone').refuse(runs.send('a1', 'Hm.')).code).toBe('agent-parked');
  });
});

describe('a session that Baton did not start', () => {
  const escalated = () =>
    new Play()
      .order(create('A'))
      .say(claim('A', 's1'), worker)
      .say(runs.signal('escalate', undefined, 'no access'), session());

  it('blocks its task with a decision when it escalates', () => {
    const play = escalated();
    expect(play.types()).toEqual([
      'AgentSignalled',
      'TaskProgressed',
      'ClaimBlocked',
      'PhaseMoved',
      'DecisionOpened',
      'NotificationRequested',
    ]);
    expect(play.the('NotificationRequested')).toMatchObject({ title: 'Task needs attention: A', message: 'no access' });
    expect(play.state.tasks.get('A')).toMatchObject({ phase: 'BLOCKED', blocked: { reason: 'no access' } });
    expect(play.refuse(runs.signal('escalate'), session()).code).toBe('claim-ended');
  });

  it('has its task unblocked by the answer, or left blocked', () => {
    const unblocked = escalated();
    unblocked.order(runs.resolve(unblocked.decision().id, 1));
    expect(unblocked.state.tasks.get('A')?.phase).toBe('IMPLEMENTATION');
    const left = escalated();
    left.order(runs.resolve(left.decision().id, 2));
    expect(left.state.tasks.get('A')?.phase).toBe('BLOCKED');
  });

  it('has its decision withdrawn once the task is unblocked by hand', () => {
    const play = escalated().order(operate('unblock'));
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn', reason: 'the task was unblocked' });
  });
});
