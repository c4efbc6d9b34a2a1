import { describe, expect, it } from 'vitest';
import { AGENT_ERRORS, HANDLERS, type AgentPlan, type HandlerAction, type HandlerName } from '../protocol/run-plan.ts';
import type { AgentReport } from '../protocol/agent-report.ts';
import * as runs from '../state/runs/say.cases.ts';
import { create } from '../state/say.cases.ts';
import { Play, type Seen } from './play.cases.ts';

const RESET = '2026-01-01T05:00:00.000Z';

/** A running agent in each of the three places where one can run. */
const CONTEXTS = {
  pipeline: (plan: AgentPlan) =>
    new Play().order(runs.startPipeline(runs.pipelinePlan([runs.agentStep('code')], { agents: [plan] }))),
  standalone: (plan: AgentPlan) => new Play().order(runs.startAgent(plan)),
  claim: (plan: AgentPlan) =>
    new Play()
      .order(create('A'))
      .order(runs.configure([{ name: 'builders', concurrency: 1, plan: { kind: 'agent', agent: plan } }])),
} as const;
type Context = keyof typeof CONTEXTS;
const contexts = Object.keys(CONTEXTS) as Context[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

function atWork(context: Context, plan: Partial<AgentPlan>): Play {
  const play = CONTEXTS[context](runs.agentPlan(plan));
  return play.say(runs.started(play.agent().id));
}

/** The report that fires each handler. */
const TRIGGERS = {
  on_stop: { kind: 'stop' },
  on_idle: { kind: 'idle', why: 'waiting' },
  on_dead: { kind: 'exited', start: 1, code: 3, signal: null, timed_out: false, blocks_used: false, output: 'bye' },
  on_error: { kind: 'errored', error: 'out_of_credits', message: 'pay first', reset_at: RESET },
  on_prompt: { kind: 'prompted', prompt: 'May I?' },
} as const satisfies Readonly<Partial<Record<HandlerName, AgentReport>>>;

type TestedHandler = keyof typeof TRIGGERS;

const SOURCES = { on_stop: 'stop', on_idle: 'idle', on_dead: 'dead', on_error: 'error', on_prompt: 'prompt' } as const;

/** The exact texts that people read. */
const MESSAGES: Readonly<Record<TestedHandler, string>> = {
  on_stop: 'Agent tried to stop without signaling completion',
  on_idle: 'Agent is idle and has not signaled completion',
  on_dead: 'Agent ended without signaling completion (exit code 3)',
  on_error: 'Agent stopped on an error: out_of_credits: pay first',
  on_prompt: 'Agent asks: May I?',
};

function fire(play: Play, handler: TestedHandler): Play {
  return play.say(runs.report(TRIGGERS[handler], play.agent().id), runs.supervisor(play.agent().id));
}

function planOf(handler: TestedHandler, action: HandlerAction): Partial<AgentPlan> {
  const plan = { action, ...(action === 'gate' ? { run: 'npm test', timeout_ms: 600_000 } : {}) };
  return { [handler]: handler === 'on_error' ? { any: plan } : plan };
}

/** Every cell of the table that has an effect besides the answer to the hook. */
const CELLS = [
  ...HANDLERS.on_idle.actions.map((action) => ['on_idle', action] as const),
  ...HANDLERS.on_dead.actions.map((action) => ['on_dead', action] as const),
  ...HANDLERS.on_error.actions.map((action) => ['on_error', action] as const),
  ...HANDLERS.on_prompt.actions.map((action) => ['on_prompt', action] as const),
  ['on_stop', 'escalate'] as const,
];
const cells = contexts.flatMap((context) => CELLS.map(([handler, action]) => [context, handler, action] as const));

describe('every action of every handler', () => {
  it.each(cells)('%s: %s = %s', (context, handler, action) => {
    const play = fire(atWork(context, planOf(handler, action)), handler);
    expect(play.seen()).toEqual(expected(context, handler, action));
    expect(play.replayed()).toEqual(play.state);
  });

  const gates = cells.filter(([, , action]) => action === 'gate');
  it.each(gates)('%s: the gate of %s', (context, handler) => {
    const play = fire(atWork(context, planOf(handler, 'gate')), handler);
    const gate = play.the('CommandRequested');
    expect(gate).toMatchObject({ command: 'npm test', timeout_ms: 600_000, subject: { kind: 'gate', handler } });
    play.say(runs.finish(gate.command_id, 0));
    expect(play.seen()).toEqual(ended(context, handler, 'done', `${handler}: gate passed`));
  });

  it.each(contexts)('%s: the end of a wait', (context) => {
    const play = fire(atWork(context, planOf('on_error', 'wait')), 'on_error');
    play.say(runs.fire(play.the('TimerSet').timer_id));
    expect(play.seen()).toEqual({ ...atEase(context), owed: ['send: Continue where you stopped.'] });
  });
});

const NUDGE = 'Continue your work. When it is done, signal completion; if you cannot continue, escalate.';

function expected(context: Context, handler: TestedHandler, action: HandlerAction): Seen {
  switch (action) {
    case 'nudge':
      return { ...atEase(context), owed: [`send: ${NUDGE}`] };
    case 'done':
      return ended(context, handler, 'done', `${handler}: done`);
    case 'fail':
      return ended(context, handler, 'failed', `${handler}: fail`);
    case 'escalate':
      return escalated(context, handler);
    case 'resume':
      if (handler === 'on_dead') return { ...atEase(context), agent: 'starting', owed: ['start 2'] };
      return { ...atEase(context), owed: ['send: Continue where you stopped.'] };
    case 'gate':
      return { ...atEase(context), owed: ['run: npm test'] };
    case 'wait':
      return { ...atEase(context), owed: [`wait: reset ${RESET}`] };
    default:
      throw new Error('decided by the hook alone: see the defaults');
  }
}

function atEase(context: Context): Seen {
  const pipeline = context === 'pipeline' ? 'running' : null;
  const task = context === 'claim' ? 'held' : null;
  return { agent: 'running', reason: null, asked: null, pipeline, task, owed: [] };
}

function ended(context: Context, handler: TestedHandler, outcome: 'done' | 'failed', reason: string): Seen {
  const isGone = handler === 'on_dead';
  const isNews = context === 'standalone' || (context === 'claim' && outcome === 'failed');
  const told = !isNews ? [] : [`${outcome}: Agent ${outcome}: coder: ${reason}`];
  const leaves = outcome === 'done' ? 'wait: leave 2026-01-01T00:01:00.000Z' : `kill: ${reason}`;
  const how = outcome === 'done' ? 'agent coder ended without an exit signal' : `agent coder failed: ${reason}`;
  const left = `${how}; missing result (baton result submit FILE)`;
  return {
    agent: isGone ? outcome : 'leaving',
    reason,
    asked: null,
    pipeline: context === 'pipeline' ? outcome : null,
    task: context === 'claim' ? `BLOCKED: ${left}` : null,
    owed: [...(isGone ? [] : [leaves]), ...told],
  };
}

function escalated(context: Context, handler: TestedHandler): Seen {
  const title = context === 'pipeline' ? 'Pipeline needs attention: main' : 'Agent needs attention: coder';
  return {
    ...atEase(context),
    agent: 'escalated',
    asked: `${SOURCES[handler]}: ${handler}: escalate`,
    pipeline: context === 'pipeline' ? 'waiting' : null,
    owed: [`attention: ${title}: ${MESSAGES[handler]}`],
  };
}

describe('every default', () => {
  it.each([
    ['pipeline', 'signal'],
    ['claim', 'signal'],
    ['standalone', 'escalate'],
  ] as const)('%s: on_stop = %s', (context, action) => {
    expect(atWork(context, {}).agent().onStop).toBe(action);
  });

  it.each(contexts.flatMap((context) => HANDLERS.on_stop.actions.map((action) => [context, action] as const)))(
    '%s: on_stop = %s is kept for the hook, and has no other effect',
    (context, action) => {
      const play = atWork(context, { on_stop: { action } });
      expect(play.agent().onStop).toBe(action);
      expect(play.newest('AgentRequested').on_stop).toBe(action);
    },
  );

  it.each(
    contexts.flatMap((context) =>
      (['on_idle', 'on_dead', 'on_error', 'on_prompt'] as const).map((handler) => [context, handler] as const),
    ),
  )('%s: %s = escalate', (context, handler) => {
    expect(fire(atWork(context, {}), handler).seen()).toEqual(escalated(context, handler));
  });

  it.each(contexts.flatMap((context) => AGENT_ERRORS.map((error) => [context, error] as const)))(
    '%s: on_error of %s',
    (context, error) => {
      const play = atWork(context, {});
      const { id } = play.agent();
      play.say(runs.report({ kind: 'errored', error, message: 'm', reset_at: RESET }, id), runs.supervisor(id));
      const { asked, owed } = play.seen();
      const called = /^(.+) needs attention/.exec(owed[0]?.slice('attention: '.length) ?? '')?.[1];
      const what = asked === null ? owed : [asked, called];
      const asks = ['error: on_error: escalate', context === 'pipeline' ? 'Pipeline' : 'Agent'];
      expect(what).toEqual(error === 'rate_limited' ? [`wait: reset ${RESET}`] : asks);
    },
  );

  it('waits a minute if the API does not report when the limit ends', () => {
    const play = atWork('pipeline', {});
    const { id } = play.agent();
    play.say(runs.report({ kind: 'errored', error: 'rate_limited', message: 'm', reset_at: null }, id));
    expect(play.the('TimerSet').due).toBe('2026-01-01T00:01:00.000Z');
  });
});

describe('the message of a handler', () => {
  it('is sent to the agent, or shown to the person', () => {
    const nudged = fire(atWork('pipeline', { on_idle: { action: 'nudge', message: 'Hurry.' } }), 'on_idle');
    expect(nudged.the('MessageRequested').text).toBe('Hurry.');
    const resumed = fire(
      atWork('pipeline', { on_dead: { action: 'resume', message: 'Again.', append: true } }),
      'on_dead',
    );
    expect(resumed.agent().resume).toEqual({ message: 'Again.', append: true });
    const asked = fire(atWork('standalone', { on_stop: { action: 'escalate', message: 'Look here.' } }), 'on_stop');
    expect(asked.the('NotificationRequested').message).toBe('Look here.');
    const failed = fire(atWork('pipeline', { on_prompt: { action: 'fail', message: 'no questions' } }), 'on_prompt');
    expect(failed.agent().reason).toBe('on_prompt: no questions');
  });

  it('for one error is not for another', () => {
    const plan = { on_error: { no_internet: { action: 'fail' }, any: { action: 'resume' } } } as const;
    const play = fire(atWork('pipeline', plan), 'on_error');
    expect(play.agent().outcome).toBeNull();
    const { id } = play.agent();
    const other = atWork('pipeline', plan);
    other.say(runs.report({ kind: 'errored', error: 'no_internet', message: 'm', reset_at: null }, id));
    expect(other.agent().outcome).toBe('failed');
  });
});
