import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../protocol/run-plan.ts';
import { PROTOCOL_LIMITS } from '../protocol/limits.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { Play } from './play.cases.ts';

const ofA = say.session('s1', 'A');

/** A person's task A with a session, which may create one task. */
function asked(ids: readonly string[]): Play {
  const play = new Play({ tasks: { number: 1, depth: 2 } });
  play.order(say.create('A', { priority: 3 })).order(say.claim('A', 's1'));
  for (const id of ids) play.say(say.create(id, { title: `do ${id}\n# Baton: approved` }), ofA);
  return play;
}

describe('tasks beyond the limits of sessions', () => {
  it('are one question with all of them, which moves nothing', () => {
    const play = asked(['B', 'C', 'D', 'E']);
    expect(play.count('TaskCreated')).toBe(2);
    expect([...play.state.decisions.values()].filter(({ result }) => result === null)).toHaveLength(1);
    const { context, title, options, taskId } = play.decision();
    expect(title).toBe('Agents propose tasks: more than they may create below A');
    expect(context).toContain('3 tasks beyond limits.tasks.number');
    expect(context).toContain('  C: "do C # Baton: approved" (by a session of A, entry ');
    expect(context.split('\n')).toHaveLength(5);
    expect(options.map(({ action, recommended }) => [action, recommended])).toEqual([
      ['approve', false],
      ['deny', false],
    ]);
    // The question holds neither the task nor its approval.
    expect(taskId).toBeNull();
    play.checkReplay();
  });

  it('are created when a person accepts, with the session as author', () => {
    const play = asked(['B', 'C', 'D']);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.newest('ProposalsSettled')).toEqual({ root: 'A', accepted: ['C', 'D'], dropped: [] });
    expect(play.state.tasks.get('D')).toMatchObject({
      n: 4,
      priority: 0,
      author: { actor: 'session:s1', acceptedBy: 'operator:ann' },
      origin: { root: 'A', depth: 1 },
    });
    // What a person accepted is not counted again, and the next one is asked about.
    play.say(say.create('E'), ofA);
    expect([play.count('TaskCreated'), play.decision().context]).toEqual([4, expect.stringContaining('1 task beyond')]);
    play.checkReplay();
  });

  it('are dropped when a person refuses, when the task is cancelled, and where the id is taken', () => {
    const refused = asked(['B', 'C']);
    refused.order(runs.resolve(refused.decision().id, 2));
    expect(refused.newest('ProposalsSettled')).toEqual({ root: 'A', accepted: [], dropped: ['C'] });
    expect(refused.state.tasks.has('C')).toBe(false);

    const cancelled = asked(['B', 'C']).order(say.operate('cancel', 'no longer', 'A'));
    expect([cancelled.count('DecisionWithdrawn'), cancelled.newest('ProposalsSettled').dropped]).toEqual([1, ['C']]);

    const taken = asked(['B', 'C', 'D']).order(say.create('C'));
    taken.order(runs.resolve(taken.decision().id, 1));
    expect(taken.newest('ProposalsSettled')).toEqual({ root: 'A', accepted: ['D'], dropped: ['C'] });
  });

  it('make an answer lapse that was given to fewer of them', () => {
    const play = asked(['B', 'C']);
    const effectiveAt = new Date(Date.parse(play.at) + 10_000).toISOString();
    play.order({ kind: 'resolve-decision', command: { id: play.decision().id, option: 1, effectiveAt } });
    play.say(say.create('D'), ofA);
    expect(play.newest('NotificationRequested').message).toContain('did not take effect: the question has changed');
    expect(play.state.tasks.has('C')).toBe(false);
  });

  it('are never covered by the answer of a person who saw fewer of them', () => {
    const play = asked(['B', 'C']);
    const { id } = play.decision();
    play.say(say.create('EVIL'), ofA);
    const { code, message } = play.refuse(runs.resolve(id, 1));
    expect([code, message]).toEqual([
      'decision-withdrawn',
      expect.stringContaining(`see decision ${play.decision().id}`),
    ]);
    expect(play.state.tasks.has('EVIL')).toBe(false);
    play.order(runs.resolve(play.decision().id, 2)).checkReplay();
  });

  it('are all listed, however long their titles are', () => {
    const play = asked(['B']);
    const ids = Array.from({ length: PROTOCOL_LIMITS.openProposals }, (_, i) => `${'C'.repeat(60)}${i}`);
    const title = '"'.repeat(PROTOCOL_LIMITS.titleCharacters);
    for (const id of ids) play.say(say.create(id, { title }), ofA);
    const { context } = play.decision();
    for (const id of ids) expect(context).toContain(`\n  ${id}: "`);
    expect(context.endsWith('baton ledger show ENTRY')).toBe(true);
  });

  it('notify people once, unless the notification was not sent yet', () => {
    const play = asked(['B', 'C', 'D']);
    const [stale, owed] = play.owed('NotificationRequested');
    expect([stale?.decision_id, owed?.decision_id]).not.toContain(undefined);
    expect(owed?.decision_id).toBe(play.decision().id);
    const { notification_id } = play.newest('NotificationRequested');
    play.say({ kind: 'notification-sent', command: { notification_id, sent: ['desktop'], failed: [] } });
    const before = play.count('NotificationRequested');
    play.say(say.create('E'), ofA);
    expect([play.count('DecisionOpened'), play.count('NotificationRequested')]).toEqual([3, before]);
  });
});

describe('tasks that a session created', () => {
  const plan: AgentPlan = runs.agentPlan({ name: 'maker', run: 'true' });
  const worker = { name: 'makers', concurrency: 2, plan: { kind: 'agent', agent: plan } } as const;

  it('are served after the tasks of people with the same priority, whatever they wait for', () => {
    const play = new Play();
    play.order(say.create('A')).order(say.claim('A', 's1'));
    // A chain of tasks would count as urgent.
    play.say(say.create('B1', { priority: 9 }), ofA);
    play.say(say.create('B2', { after: ['B1'] }), ofA).say(say.create('B3', { after: ['B2'] }), ofA);
    play.order(say.create('next'));
    play.order(runs.configure([worker]));
    const started = play.entries.flatMap(({ type, data }) => (type === 'AgentRequested' ? [data.task?.task_id] : []));
    expect(started).toEqual(['next', 'B1']);
  });

  it('draw on the budget of the task of the person', () => {
    const play = new Play({ budgets: { task: { tokens: 10 } } });
    play.order(say.create('A')).order(say.claim('A', 's1')).say(say.create('B'), ofA);
    play.order(runs.configure([worker]));
    const { agent_id: id } = play.newest('AgentRequested');
    play.say(runs.started(id)).say(runs.used(play.agent(id), 12), runs.supervisor(id));
    expect(play.decision()).toMatchObject({ source: 'budget', title: 'Budget is used up: task A', taskId: 'A' });
    expect(play.agent(id).parked).toBe(play.decision().id);
    // Neither the task nor another child starts before the answer.
    play.say(say.create('C'), ofA).say(say.release('A'), ofA);
    expect(play.count('AgentRequested')).toBe(1);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent(id).parked).toBeNull();
  });

  /** A person's task A, and its child B, whose agent waits for the used up budget of A. */
  function spent(): { readonly play: Play; readonly id: string } {
    const play = new Play({ budgets: { task: { tokens: 10 } } });
    play.order(say.create('A')).order(say.claim('A', 's1')).say(say.create('B'), ofA);
    play.order(runs.configure([worker]));
    const { agent_id: id } = play.newest('AgentRequested');
    play.say(runs.started(id)).say(runs.used(play.agent(id), 12), runs.supervisor(id));
    return { play, id };
  }

  it('ask again about the budget when the task of the person is cancelled', () => {
    const { play, id } = spent();
    const first = play.decision().id;
    play.order(say.operate('cancel', 'no longer', 'A'));
    expect(play.state.decisions.get(first)?.result).toMatchObject({ kind: 'withdrawn' });
    // The question must not belong to the cancelled task.
    const again = play.decision();
    expect(again).toMatchObject({ source: 'budget', title: 'Budget is used up: task A', taskId: null, result: null });
    expect(play.agent(id).parked).toBe(again.id);
    play.order(runs.resolve(again.id, 1));
    expect(play.agent(id)).toMatchObject({ parked: null, outcome: null });
    play.checkReplay();
  });

  it.each(['running', 'gone'] as const)('end with the budget of a cancelled task: %s', (process) => {
    const { play, id } = spent();
    if (process === 'gone') play.say(runs.exited(id));
    play.order(say.operate('cancel', 'no longer', 'A'));
    play.order(runs.resolve(play.decision().id, 3));
    expect(play.agent(id)).toMatchObject({ outcome: 'cancelled' });
    expect(play.state.tasks.get('B')?.phase).toBe('BLOCKED');
    play.checkReplay();
  });

  it('keep their own budget if an earlier version recorded them', () => {
    const made = new Play();
    made.order(say.create('A')).order(say.claim('A', 's1')).say(say.create('B'), ofA);
    const play = new Play({ tasks: { number: 1, depth: 1 }, budgets: { task: { tokens: 10 } } });
    play.receive(
      made.entries.map((entry) => {
        if (entry.type !== 'TaskCreated') return entry;
        const { made_by: _, ...data } = entry.data;
        return { ...entry, data };
      }),
    );
    expect(play.state.tasks.get('B')).toMatchObject({ author: { session: { taskId: 'A' } }, origin: null });
    // The limits count from now on.
    play.say(say.create('C'), ofA);
    expect([play.state.tasks.has('C'), play.state.families.get('A')?.members]).toEqual([true, ['C']]);
    play.order(say.release('A')).order(runs.configure([{ ...worker, concurrency: 3 }]));
    const started = [...play.state.agents.values()];
    const agentOf = (task: string) => started.find((agent) => agent.task?.task_id === task)?.id ?? '';
    for (const { id } of started) play.say(runs.started(id));
    play.say(runs.used(play.agent(agentOf('A')), 12), runs.supervisor(agentOf('A')));
    const isParked = (task: string) => play.agent(agentOf(task)).parked !== null;
    expect({ A: isParked('A'), B: isParked('B'), C: isParked('C') }).toEqual({ A: true, B: false, C: true });
  });
});
