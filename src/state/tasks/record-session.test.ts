import { describe, expect, it } from 'vitest';
import { event, type Event } from '../event.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import * as say from '../say.cases.ts';
import {
  claim,
  complete,
  create,
  ended,
  moved,
  operate,
  operator,
  record,
  session,
  thought,
  update,
  worker,
} from '../say.cases.ts';
import { taskStatus, writebackRecords } from './task.ts';

const made: Step[] = [[create(), operator]];
const held: Step[] = [...made, [claim(), worker]];
const recorded = (epoch: number | null, more: Parameters<typeof thought>[0] = {}): Event =>
  event('ThoughtRecorded', { record_id: 'r1', task_id: 'A', epoch, record: thought(more) });

describe('a thought record', () => {
  it('is made under the claim of its session', () => {
    const { task, answer } = given(held)
      .when(record(), session())
      .then([recorded(1)]);
    expect(answer).toEqual({ recordId: 'r1' });
    expect(task('A')).toMatchObject({ latestRecord: thought(), records: [{ id: 'r1', epoch: 1, commitSha: say.SHA }] });
  });

  it('without a claim is for operators only', () => {
    given(made)
      .when(record(), operator)
      .then([recorded(null)]);
    given(made).when(record(), worker).thenRefused('no-claim');
    given(made).when(record(), say.system).thenRefused('forbidden');
    given(made)
      .when(record({ task_id: 'X' }), operator)
      .thenRefused('there is no task X');
  });

  it('is written by an operator for the holder whose writeback failed (failure mode 1)', () => {
    given(held)
      .when(record({}, 1), operator)
      .then([recorded(1)]);
    given([...held, [record({}, 1), operator]])
      .when(update('done'), session())
      .thenTypes(['ClaimCompleted', 'PhaseMoved']);
    given([...held, [record(), operator]])
      .when(update('done'), session())
      .thenRefused('writeback-required');
  });

  it('for a holder needs a live claim of that epoch', () => {
    given(held).when(record({}, 2), operator).thenRefused('task A has no live claim of epoch 2');
    given(made).when(record({}, 1), operator).thenRefused('claim-ended');
  });

  it('may be made more than once: the latest is shown, each counts', () => {
    const { task } = given([...held, [record(), session()]])
      .when(record({ summary: 'More.' }), session())
      .thenTypes(['ThoughtRecorded']);
    expect(task('A').latestRecord?.summary).toBe('More.');
    expect(writebackRecords(task('A'))).toHaveLength(2);
  });
});

describe('a record that is still the form', () => {
  it.each([
    ['summary', { summary: 'FILL IN: what was done, and why so' }],
    ['summary', { summary: ' fill in:\nwhat was done, and why so ' }],
    ['notes', { notes: 'FILL IN' }],
    ['tests_run[1]', { tests_run: ['npm test', 'Fill in'] }],
    ['blockers[0].what', { blockers: [{ what: 'FILL IN' }] }],
  ])('is refused on every way: %s', (path, more) => {
    const text = `the field ${path} of the record still has the placeholder of the form`;
    given(held).when(record(more), session()).thenRefused(text);
    given(held).when(complete(more), session()).thenRefused(text);
    given(held).when(record(more, 1), operator).thenRefused(text);
    given(made).when(record(more), operator).thenRefused('placeholder');
  });

  it('is accepted if the placeholder is part of a text', () => {
    given(held)
      .when(record({ summary: 'The template still says FILL IN: what you did.' }), session())
      .thenTypes(['ThoughtRecorded']);
  });
});

describe('a record with status todo reinstates the task (failure mode 3)', () => {
  const done: Step[] = [...held, [create('B', { after: ['A'] }), operator], [complete(), session()]];
  const reverted = { status: 'todo', notes: 'Previous PR reverted, task reinstated' } as const;

  it('by an operator: moves it to IMPLEMENTATION and todo, and dependants wait again', () => {
    given(done).when(claim('B', 's2'), worker).thenTypes(['TaskClaimed']);
    const again = given(done);
    const { task } = again
      .when(record(reverted), operator)
      .then([
        recorded(null, reverted),
        event('TaskReinstated', { task_id: 'A', reason: reverted.notes }),
        moved('COMPLETED', 'IMPLEMENTATION', { cause: 'reinstated', reason: reverted.notes }),
      ]);
    expect(taskStatus(task('A'))).toBe('todo');
    again.when(claim('B', 's2'), worker).thenRefused('task B waits for A');
    again.when(claim('A', 's2'), worker).thenTypes(['TaskClaimed']);
  });

  it('by the holder: its claim is revoked, and the handoff it held is dropped', () => {
    const playing: Step[] = [
      [create('A', { phase: 'REVIEW', nextRole: 'reviewer' }), operator],
      [claim('A', 's1', { role: 'reviewer' }), worker],
    ];
    const reviewed = say.handoff({ senderRole: 'reviewer' });
    given([...playing, [reviewed, session()]])
      .when(record({ status: 'todo' }), session())
      .then([
        recorded(1, { status: 'todo' }),
        event('HandoffDropped', { ...say.heldHandoff(), reason: 'the claim ended: revoked' }),
        ended('ClaimRevoked', 'the task was reinstated'),
        event('TaskReinstated', { task_id: 'A', reason: 'Done.' }),
        moved('REVIEW', 'IMPLEMENTATION', { cause: 'reinstated', reason: 'Done.' }),
      ]);
  });

  it('is never a writeback', () => {
    const { task } = given(done)
      .when(record(reverted), operator)
      .thenTypes(['ThoughtRecorded', 'TaskReinstated', 'PhaseMoved']);
    expect(writebackRecords(task('A'))).toEqual([]);
    given([...done, [record(reverted), operator]])
      .when(update('done'), operator)
      .thenRefused('writeback-required');
    given(held)
      .when(complete({ status: 'todo' }), session())
      .thenRefused('reinstates');
    given([...held, recorded(1, { status: 'todo' })])
      .when(update('done'), session())
      .thenRefused('writeback-required');
  });

  it('leaves no role, so that any role may claim the task', () => {
    const fixing: Step[] = [
      ...made,
      moved('CI_PENDING', 'IMPLEMENTATION', { cause: 'checks', reason: 'CI failed' }, 'fixer'),
    ];
    const { task } = given(fixing).when(operate('reinstate'), operator).thenTypes(['TaskReinstated', 'PhaseMoved']);
    expect(task('A')).toMatchObject({ phase: 'IMPLEMENTATION', nextRole: null, begun: false });
    given(made).when(operate('reinstate'), operator).thenTypes(['TaskReinstated']);
  });
});

describe('record and completion in one call', () => {
  it('are both applied', () => {
    const { answer } = given(held)
      .when(complete(), session())
      .then([
        recorded(1),
        ended('ClaimCompleted'),
        moved('IMPLEMENTATION', 'COMPLETED', { cause: 'completed', reason: 'done' }),
      ]);
    expect(answer).toEqual({ status: 'done' });
  });

  it('or neither is', () => {
    given(held, { ...OPEN, ciGate: true })
      .when(complete(), session())
      .thenRefused('ci-gate');
    given(held, { ...OPEN, mergeGate: true })
      .when(complete(), session())
      .thenRefused('merge-gate');
    given([...made, [operate('cancel'), operator]])
      .when(complete(), operator)
      .thenRefused('cancelled');
    given(held)
      .when(complete({ task_id: 'X' }), session())
      .thenRefused('there is no task X');
    given(held).when(complete(), worker).thenRefused('forbidden');
  });

  it('an operator completes for the holder by naming the epoch, and revokes the claim without', () => {
    const done = moved('IMPLEMENTATION', 'COMPLETED', { cause: 'completed', reason: 'completed by an operator' });
    const reason = 'completed by an operator';
    given(held)
      .when(complete({}, 1), operator)
      .then([recorded(1), ended('ClaimCompleted', reason), done]);
    given(held)
      .when(complete(), operator)
      .then([recorded(null), ended('ClaimRevoked', reason), done]);
    given(made)
      .when(complete(), operator)
      .then([recorded(null), done]);
  });
});
