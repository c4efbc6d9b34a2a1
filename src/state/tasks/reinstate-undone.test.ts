import { describe, expect, it } from 'vitest';
import type { FindingKind } from '../../protocol/shape/shared-fields.ts';
import type { Caller } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import { agent } from '../runs/say.cases.ts';
import {
  claim,
  complete,
  create,
  moved,
  operate,
  operator,
  record,
  session,
  thought,
  update,
  worker,
} from '../say.cases.ts';
import { taskStatus } from './task.ts';

const done: Step[] = [
  [create(), operator],
  [create('B'), operator],
  [claim(), worker],
  [complete(), session()],
];
const reverted = { status: 'todo', notes: 'Previous PR reverted, task reinstated' } as const;

/** A decision about the task that reconciliation opened, as recorded. */
function found(finding: FindingKind | undefined, more: { decision_id?: string; task_id?: string } = {}): Event {
  return event('DecisionOpened', {
    decision_id: 'd1',
    source: 'reconcile',
    title: 'Task needs attention: A does not match git',
    context: 'A is done, but commit 111111111111 was reverted on main',
    options: [
      { label: 'Reinstate the task', action: 'retry', recommended: true },
      { label: 'Dismiss', action: 'dismiss', recommended: false },
    ],
    agent_id: null,
    pipeline_id: null,
    task_id: 'A',
    ...(finding === undefined ? {} : { finding }),
    ...more,
  });
}

const onTaskB = session('s2', 'B', 1);
const holdsB: Step = [claim('B', 's2'), worker];

describe('a record with status todo, by a caller without a claim on the task', () => {
  it.each<[string, Caller, string]>([
    ['a worker', worker, 'worker:bob'],
    ['a session on another task', onTaskB, 'worker:bob'],
    ['an agent without a task', agent('a1'), 'session:a1'],
  ])('reinstates it where reconciliation found its commit reverted: %s', (_, caller, by) => {
    const { task, answer } = given([...done, holdsB, found('commit-reverted')])
      .when(record(reverted), caller)
      .then([
        event('ThoughtRecorded', { record_id: 'r1', task_id: 'A', epoch: null, record: thought(reverted) }),
        event('TaskReinstated', { task_id: 'A', reason: reverted.notes, decision_id: 'd1', by }),
        moved('COMPLETED', 'IMPLEMENTATION', { cause: 'reinstated', reason: reverted.notes }),
      ]);
    expect(answer).toEqual({ recordId: 'r1' });
    expect(taskStatus(task('A'))).toBe('todo');
  });

  it.each<FindingKind>(['commit-gone', 'commit-missing'])('and where it found the commit gone: %s', (kind) => {
    given([...done, found(kind)])
      .when(record(reverted), worker)
      .thenTypes(['ThoughtRecorded', 'TaskReinstated', 'PhaseMoved']);
  });

  it('is refused without a finding, whatever the record states', () => {
    given(done)
      .when(record(reverted), worker)
      .thenRefused('Baton has not found the commit of A reverted or gone from the main branch');
    given([...done, holdsB])
      .when(record(reverted), onTaskB)
      .thenRefused('not-undone');
    given([...done, found('commit-reverted', { task_id: 'B' })])
      .when(record(reverted), worker)
      .thenRefused('not-undone');
  });

  it.each<[string, FindingKind | undefined]>([
    ['another kind', 'worktree-missing'],
    ['another kind', 'merged-by-hand'],
    ['another kind', 'session-dead'],
    ['no kind, as in old ledgers', undefined],
  ])('is refused with a finding of %s', (_, kind) => {
    given([...done, found(kind)])
      .when(record(reverted), worker)
      .thenRefused('not-undone');
  });

  it('is refused when the finding was withdrawn, or a person dismissed it', () => {
    const withdrawn = event('DecisionWithdrawn', { decision_id: 'd1', reason: 'it fits again' });
    given([...done, found('commit-reverted'), withdrawn])
      .when(record(reverted), worker)
      .thenRefused('not-undone');
    const dismissed = event('DecisionResolved', { decision_id: 'd1', option: 2, action: 'dismiss', message: null });
    given([...done, found('commit-reverted'), dismissed])
      .when(record(reverted), worker)
      .thenRefused('not-undone');
    given([...done, found('commit-reverted'), withdrawn, found('commit-gone', { decision_id: 'd2' })])
      .when(record(reverted), worker)
      .thenTypes(['ThoughtRecorded', 'TaskReinstated', 'PhaseMoved']);
  });

  it('never reinstates a task that an operator cancelled', () => {
    const cancelled: Step[] = [[create(), operator], [operate('cancel'), operator], found('commit-reverted')];
    given(cancelled).when(record(reverted), worker).thenRefused('an operator cancelled task A');
    given(cancelled).when(record(reverted), agent('a1')).thenRefused('cancelled');
  });

  it('is refused while another session holds the task, and while it is not completed', () => {
    const open: Step[] = [[create(), operator], found('commit-reverted')];
    given(open).when(record(reverted), worker).thenRefused('task A is IMPLEMENTATION: it is not completed');
    given([...open, [claim(), worker]])
      .when(record(reverted), worker)
      .thenRefused('already-claimed');
    const blocked: Step = [update('blocked', { notes: 'x' }), operator];
    given([...open, blocked])
      .when(record(reverted), worker)
      .thenRefused('not-undone');
  });

  it('is refused the second time', () => {
    const again = given([...done, found('commit-reverted')]);
    again.when(record(reverted), worker).thenTypes(['ThoughtRecorded', 'TaskReinstated', 'PhaseMoved']);
    again.when(record(reverted), worker).thenRefused('not-undone');
  });

  it('is refused as an unfilled form, and for a missing task', () => {
    given([...done, found('commit-reverted')])
      .when(record({ ...reverted, notes: 'FILL IN' }), worker)
      .thenRefused('placeholder');
    given(done)
      .when(record({ ...reverted, task_id: 'X' }), worker)
      .thenRefused('no-such-task');
  });
});

describe('any other record without a claim', () => {
  it('is for operators only', () => {
    given(done).when(record(), worker).thenRefused('without a claim, only operators can record');
    given(done).when(record(), agent('a1')).thenRefused('no-claim');
    given([...done, holdsB])
      .when(record(), onTaskB)
      .thenRefused('wrong-task');
    given([...done, found('commit-reverted')])
      .when(record(), worker)
      .thenRefused('no-claim');
  });
});
