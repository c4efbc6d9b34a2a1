import { describe, expect, it } from 'vitest';
import { event } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import { claim, create, ended, moved, operate, operator, record, session, update, worker } from '../say.cases.ts';
import { taskStatus } from './task.ts';

const made: Step[] = [[create(), operator]];
const held: Step[] = [...made, [claim(), worker]];

describe('unblock', () => {
  it.each(['DRAFT', 'IMPLEMENTATION', 'REVIEW', 'READY_FOR_MERGE'] as const)(
    'returns to %s, which was blocked',
    (phase) => {
      const blocked: Step[] = [
        [create('A', { phase, nextRole: 'r' }), operator],
        [claim(), worker],
        [update('blocked', { notes: 'no key' }), session()],
      ];
      const { task } = given(blocked)
        .when(operate('unblock', 'key came'), operator)
        .then([moved('BLOCKED', phase, { cause: 'unblocked', reason: 'key came' }, 'r')]);
      expect(task('A')).toMatchObject({ phase, nextRole: 'r', blocked: null });
    },
  );

  it('is refused if the task is not blocked', () => {
    given(held).when(operate('unblock'), operator).thenRefused('task A is not blocked');
  });
});

describe('cancel', () => {
  it('revokes the claim, with the reason, and cancelled is a status of its own', () => {
    const { task } = given(held)
      .when(operate('cancel', 'no longer wanted'), operator)
      .then([
        ended('ClaimRevoked', 'no longer wanted'),
        moved('IMPLEMENTATION', 'BLOCKED', { cause: 'cancelled', reason: 'cancelled: no longer wanted' }),
      ]);
    expect(taskStatus(task('A'))).toBe('cancelled');
  });

  it('of a blocked task is recorded too', () => {
    const twice = given([...made, [update('blocked', { notes: 'no key' }), operator]]);
    const { task } = twice
      .when(operate('cancel'), operator)
      .then([moved('BLOCKED', 'BLOCKED', { cause: 'cancelled', reason: 'cancelled: because' })]);
    expect(task('A').blocked).toEqual({ from: 'IMPLEMENTATION', reason: 'cancelled: because', isCancelled: true });
  });

  it('a second time changes nothing', () => {
    given([...made, [operate('cancel'), operator]])
      .when(operate('cancel', 'again'), operator)
      .then([]);
  });

  it('is ended by reinstating alone', () => {
    const cancelled = given([...made, [operate('cancel', 'not wanted'), operator]]);
    for (const command of [operate('unblock'), operate('waive'), update('todo'), update('blocked', { notes: 'x' })])
      cancelled.when(command, operator).thenRefused('task A is cancelled: not wanted');
    cancelled.when(claim('A'), worker).thenRefused('cancelled');
    const { task } = cancelled
      .when(operate('reinstate', 'wanted again'), operator)
      .thenTypes(['TaskReinstated', 'PhaseMoved']);
    expect(taskStatus(task('A'))).toBe('todo');
  });

  it('stays, with its reason, whatever is recorded later about the task', () => {
    const again = moved('BLOCKED', 'BLOCKED', { cause: 'run-ended', reason: 'the agent died' });
    const { task } = given([...made, [operate('cancel', 'not wanted'), operator], again]);
    expect(taskStatus(task('A'))).toBe('cancelled');
    expect(task('A').blocked?.reason).toBe('cancelled: not wanted');
  });

  it('can be revoked in an older ledger, whose entry of an unblocking is folded', () => {
    const { task } = given([
      ...made,
      [operate('cancel'), operator],
      moved('BLOCKED', 'IMPLEMENTATION', { cause: 'unblocked', reason: 'go' }),
    ]);
    expect(taskStatus(task('A'))).toBe('todo');
  });

  it('is refused if the task is completed', () => {
    given([...made, [operate('waive'), operator]])
      .when(operate('cancel'), operator)
      .thenRefused('task A is completed');
  });
});

describe('waive', () => {
  const waived = event('WritebackWaived', { task_id: 'A', reason: 'merged by hand' });
  const done = moved('IMPLEMENTATION', 'COMPLETED', { cause: 'waived', reason: 'waived: merged by hand' });

  it('completes without a record, and is itself an entry', () => {
    const { task } = given(made).when(operate('waive', 'merged by hand'), operator).then([waived, done]);
    expect(taskStatus(task('A'))).toBe('done');
  });

  it('ends the current claim', () => {
    given(held)
      .when(operate('waive', 'merged by hand'), operator)
      .then([waived, ended('ClaimRevoked', 'waived: merged by hand'), done]);
  });

  it('does nothing if the task is completed, and does not unblock', () => {
    given([...made, [operate('waive'), operator]])
      .when(operate('waive'), operator)
      .then([]);
    given([...made, [operate('cancel'), operator]])
      .when(operate('waive'), operator)
      .thenRefused('cancelled');
  });
});

describe('every operation', () => {
  it.each(['unblock', 'reinstate', 'cancel', 'waive'] as const)(
    '%s needs a reason, a task and an operator',
    (action) => {
      given(held).when(operate(action, ' '), operator).thenRefused('no-reason');
      given(held)
        .when(operate(action, 'x', 'X'), operator)
        .thenRefused('there is no task X');
      given(held).when(operate(action), session()).thenRefused('forbidden');
      given(held).when(operate(action), worker).thenRefused('forbidden');
    },
  );

  it('reinstate voids the records before it', () => {
    given([...held, [record(), session()], [operate('reinstate'), operator]])
      .when(update('done'), operator)
      .thenRefused('writeback-required');
  });
});
