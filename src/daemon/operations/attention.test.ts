import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import type { Command } from '../../state/decide.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import { failure, seeMain } from '../../state/workflow/say.cases.ts';
import {
  blockedAttention,
  cancelledAttention,
  outboxAttention,
  stuckAttention,
  workersAttention,
} from './attention.ts';

const CI = { ciGate: true, checks: [{ name: 'unit', run: 'true' }] } as const;

const block = (id: string, notes: string): Command => say.update('blocked', { task_id: id, notes });

const blocked = (count: number): Play => {
  const play = new Play();
  for (let i = 1; i <= count; i++) {
    play.order(say.create(`K${i}`));
    play.order(block(`K${i}`, 'no disk'));
  }
  return play;
};

describe('a blocked task', () => {
  it('without a decision is listed with its reason and the next command', () => {
    const play = blocked(1);
    expect(blockedAttention(play.state)).toEqual([
      {
        kind: 'blocked',
        count: 1,
        task_id: 'K1',
        title: `Task is blocked: K1 ${play.state.tasks.get('K1')?.title ?? ''}`,
        context: 'no disk',
        next: 'baton task unblock K1 --reason "…"',
      },
    ]);
    expect(blockedAttention(play.order(say.operate('unblock', 'there is one', 'K1')).state)).toEqual([]);
  });

  it('with a decision is listed once the decision is settled and the task is still blocked', () => {
    const play = new WorkflowPlay(CI).turn('issue-manager').turn('prep');
    const caller = play.claim('implementer');
    play.say(say.exit('IMPLEMENTATION', 'blocked', { notes: 'no disk' }), caller);
    expect(play.openDecisions()).toHaveLength(1);
    expect(blockedAttention(play.state)).toEqual([]);
    play.order(runs.resolve(play.decision().id, 2));
    expect(play.task.phase).toBe('BLOCKED');
    expect(blockedAttention(play.state)).toMatchObject([{ task_id: play.id }]);
  });

  it('that is retried automatically is not listed', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep');
    play.turn('implementer', { to: 'orchestrator', phase: 'BLOCKED', nextRole: 'implementer', xml: failure(true) });
    expect(play.task.phase).toBe('BLOCKED');
    expect(blockedAttention(play.state)).toEqual([]);
  });
});

describe('a cancelled task', () => {
  it('is listed only if another task waits for it', () => {
    const play = new Play().order(say.create('A')).order(say.operate('cancel', 'nobody wants it'));
    expect(blockedAttention(play.state)).toEqual([]);
    expect(cancelledAttention(play.state)).toEqual([]);
    play.order(say.create('B', { after: ['A'] }));
    expect(blockedAttention(play.state)).toEqual([]);
    expect(cancelledAttention(play.state)).toMatchObject([
      { kind: 'cancelled', task_id: 'A', context: 'cancelled: nobody wants it; waiting: B' },
    ]);
    play.order(say.operate('cancel', 'neither is this', 'B'));
    expect(cancelledAttention(play.state)).toEqual([]);
  });

  it('is one that a person cancelled: its holder cannot hide it with the same reason', () => {
    const play = new Play().order(say.create('A')).say(say.claim(), say.worker);
    play.say(block('A', 'cancelled: I am tired'), say.session());
    expect(blockedAttention(play.state)).toMatchObject([{ task_id: 'A' }]);
  });
});

it('lists the first few and counts the rest', () => {
  const lines = blockedAttention(blocked(40).state);
  expect(lines).toHaveLength(6);
  expect(lines.reduce((sum, { count }) => sum + count, 0)).toBe(40);
  expect(lines.at(-1)).toMatchObject({
    task_id: null,
    title: '35 more tasks are blocked',
    next: 'baton task list --status blocked',
  });
  // One more reason takes no more room than a line that counts it.
  expect(blockedAttention(blocked(6).state).map(({ task_id }) => task_id)).toEqual([
    'K1',
    'K2',
    'K3',
    'K4',
    'K5',
    'K6',
  ]);
});

describe('a run that waits for an answer', () => {
  const pipeline = {
    id: 'p1p1p1p1-0000',
    name: 'ship',
    status: 'waiting',
    task_id: null,
    decision_id: 'd1',
    parent: null,
  };
  const agent = {
    id: 'a1a1a1a1-0000',
    name: 'fixer',
    status: 'escalated',
    task_id: 'K1',
    decision_id: 'd1',
    pipeline_id: null,
  };

  it('is not listed besides its open decision', () => {
    expect(stuckAttention([pipeline], [agent], new Set(['d1']))).toEqual([]);
  });

  it('is stuck if that decision is not open, or there is none', () => {
    expect(stuckAttention([{ ...pipeline, decision_id: null }], [agent], new Set())).toMatchObject([
      { kind: 'stuck', next: 'baton pipeline cancel p1p1p1p1' },
      { kind: 'stuck', task_id: 'K1', next: 'baton agent kill a1a1a1a1' },
    ]);
  });

  it('is counted once if it is part of another', () => {
    const inside = { ...pipeline, parent: { pipeline_id: 'p0' } };
    expect(stuckAttention([inside], [{ ...agent, pipeline_id: 'p0' }], new Set())).toEqual([]);
  });
});

describe('messages that wait in the outbox', () => {
  it('are listed with their place after a while', () => {
    expect(outboxAttention(14_000, '/state')).toEqual([]);
    expect(outboxAttention(20_000, '/state')).toMatchObject([
      { kind: 'outbox', title: 'Messages of agents have not been recorded for 20 s', next: 'ls -l /state/outbox' },
    ]);
  });
});

describe('a worker that makes workflows of tasks', () => {
  const unchecked = { code: 'no-checks', message: 'nothing would be checked', hint: 'List the checks.' };
  const plan = { kind: 'workflow', workflow: 'issue', mode: 'autonomous' } as const;
  const play = (): Play =>
    new Play({ unchecked })
      .say(seeMain('1'.repeat(40), { by: null }))
      .say(runs.configure([{ name: 'backlog', tasks: ['P*'], concurrency: 1, plan }]));

  it('that may not start one is listed once, however many tasks wait for it', () => {
    const { state, rules } = play().order(say.create('P1')).order(say.create('P2'));
    expect(workersAttention(state, rules)).toEqual([
      {
        kind: 'worker',
        count: 1,
        task_id: null,
        title: 'Worker backlog starts no workflow',
        context: 'nothing would be checked',
        next: 'List the checks.',
      },
    ]);
  });

  it('is not listed if no task waits for it, or if it may start', () => {
    const idle = play().order(say.create('A'));
    expect(workersAttention(idle.state, idle.rules)).toEqual([]);
    const declined = play()
      .order({ kind: 'decline-checks', command: { by: 'operator:ann' } })
      .order(say.create('P1'));
    expect(workersAttention(declined.state, declined.rules)).toEqual([]);
  });
});
