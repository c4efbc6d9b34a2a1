import { expect, it } from 'vitest';
import { event, type Event } from '../event.ts';
import { type Given, given } from '../given.cases.ts';
import { claim, complete, create, operate, operator, session, update, worker } from '../say.cases.ts';
import { taskOutlook, type TaskOutlook } from './task-outlook.ts';

const outlook = ({ state, task }: Given): TaskOutlook => taskOutlook(state, task('A'));
const made = [create(), operator] as const;

const asked = (task_id: string | null, title = 'Continue?'): Event =>
  event('DecisionOpened', {
    decision_id: 'd1',
    source: 'budget',
    title,
    context: '',
    options: [],
    agent_id: null,
    pipeline_id: null,
    task_id,
  });

const retry = event('TimerSet', {
  timer_id: 't1',
  due: '2026-01-01T00:10:00.000Z',
  purpose: { kind: 'unblock', task_id: 'A', since: 1 },
});

it('continues while no person is needed', () => {
  expect(outlook(given([made]))).toEqual({ state: 'going', reason: null, decisionIds: [] });
  expect(outlook(given([made, [claim(), worker]]))).toMatchObject({ state: 'going' });
});

it('is over when it is done or cancelled', () => {
  expect(outlook(given([made, [claim(), worker], [complete(), session()]]))).toMatchObject({ state: 'done' });
  expect(outlook(given([made, [operate('cancel', 'not now'), operator]]))).toMatchObject({
    state: 'cancelled',
    reason: expect.stringContaining('not now'),
  });
});

it('waits for a person while a decision about it is open', () => {
  expect(outlook(given([made, asked('A')]))).toEqual({ state: 'waiting', reason: 'Continue?', decisionIds: ['d1'] });
  expect(outlook(given([made, asked('B')]))).toMatchObject({ state: 'going' });
  const answered = event('DecisionWithdrawn', { decision_id: 'd1', reason: 'settled' });
  expect(outlook(given([made, asked('A'), answered]))).toMatchObject({ state: 'going' });
});

it('waits for a person while its agent waits for a decision that is not about the task alone', () => {
  const task = { task_id: 'A', epoch: 1, session_id: 's1' };
  const run = { agent_id: 'a1', plan: { name: 'coder', run: 'claude' }, owner: null, vars: {}, worker: null, task };
  const parked = event('AgentParked', { agent_id: 'a1', decision_id: 'd1', reason: 'the budget of the day' });
  const requested = event('AgentRequested', { ...run, on_stop: 'signal' });
  expect(outlook(given([made, [claim(), worker], requested, asked(null), parked]))).toMatchObject({
    state: 'waiting',
    decisionIds: ['d1'],
  });
});

it('waits for the person who took it over', () => {
  const assigned = event('TaskAssigned', { task_id: 'A', agent: null, person: 'operator:ann' });
  expect(outlook(given([made, assigned]))).toEqual({
    state: 'waiting',
    reason: 'operator:ann took the task over',
    decisionIds: [],
  });
  expect(outlook(given([made, assigned, [claim(), operator]]))).toMatchObject({ state: 'going', reason: null });
});

it('waits for a person when it is blocked, unless it is retried by itself', () => {
  const blocked = [made, [claim(), worker], [update('blocked', { notes: 'no disk' }), session()]] as const;
  expect(outlook(given(blocked))).toMatchObject({ state: 'waiting', reason: expect.stringContaining('no disk') });
  expect(outlook(given([...blocked, retry]))).toMatchObject({ state: 'going' });
});

it('of a workflow is done when its closer is', () => {
  const started = event('WorkflowStarted', { task_id: 'A', mode: 'autonomous' });
  const merged = (next_role: string | null): Event =>
    event('PhaseMoved', {
      task_id: 'A',
      from: 'IMPLEMENTATION',
      to: 'COMPLETED',
      next_role,
      cause: 'merged',
      reason: 'merged',
    });
  expect(outlook(given([made, started, merged('closer')]))).toMatchObject({ state: 'going' });
  expect(outlook(given([made, started, merged(null)]))).toMatchObject({ state: 'done' });
  expect(outlook(given([made, merged('closer')]))).toMatchObject({ state: 'done' });
});
