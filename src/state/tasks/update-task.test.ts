import { describe, expect, it } from 'vitest';
import { event } from '../event.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import * as say from '../say.cases.ts';
import {
  claim,
  create,
  ended,
  moved,
  operate,
  operator,
  record,
  session,
  system,
  update,
  worker,
} from '../say.cases.ts';

const made: Step[] = [[create(), operator]];
const held: Step[] = [...made, [claim(), worker]];
const recorded: Step[] = [...held, [record(), session()]];
const WRITEBACK = 'Writeback required: thought_record must be recorded before task completion.';

describe('done', () => {
  it('without a thought record is refused, and nothing changes', () => {
    given(held)
      .when(update('done', { progress: 100, notes: 'Finished.' }), session())
      .thenRefused(WRITEBACK);
  });

  it('after the record completes the task and ends the claim: refused; record; update again', () => {
    const told = event('TaskProgressed', { task_id: 'A', epoch: 1, progress: 100, notes: 'Finished.' });
    const { answer, task } = given(recorded)
      .when(update('done', { progress: 100, notes: 'Finished.' }), session())
      .then([
        told,
        ended('ClaimCompleted'),
        moved('IMPLEMENTATION', 'COMPLETED', { cause: 'completed', reason: 'done' }),
      ]);
    expect(answer).toEqual({ status: 'done' });
    expect(task('A')).toMatchObject({ phase: 'COMPLETED', claim: null, progress: 100, notes: 'Finished.' });
  });

  it('ignores records made under an earlier claim', () => {
    given([...recorded, [update('todo'), session()], [claim('A', 's2'), worker]])
      .when(update('done'), session('s2', 'A', 2))
      .thenRefused(WRITEBACK);
  });

  it('ignores records made before the task was reinstated, and the one that reinstated it', () => {
    const again: Step[] = [...recorded, [record({ status: 'todo' }), session()], [claim('A', 's2'), worker]];
    given(again)
      .when(update('done'), session('s2', 'A', 2))
      .thenRefused(WRITEBACK);
    given(again).when(update('done'), operator).thenRefused(WRITEBACK);
  });

  it('drops a handoff that waited for the exit signal, and reports that', () => {
    given([
      ...made,
      [claim('A', 's1', { role: 'implementer' }), worker],
      [record(), session()],
      [say.handoff(), session()],
    ])
      .when(update('done'), session())
      .then([
        event('HandoffDropped', { ...say.heldHandoff(), reason: 'the claim ended: completed' }),
        ended('ClaimCompleted'),
        moved('IMPLEMENTATION', 'COMPLETED', { cause: 'completed', reason: 'done' }),
      ]);
  });

  it('is refused while the task is blocked', () => {
    given([...recorded, [update('blocked', { notes: 'no key' }), session()]])
      .when(update('done'), operator)
      .thenRefused('task A is blocked: no key');
  });

  it('repeated for a done task changes nothing', () => {
    const again = given([...recorded, [update('done'), session()]])
      .when(update('done'), operator)
      .then([]);
    expect(again.answer).toEqual({ status: 'done' });
  });
});

describe('done, by an operator', () => {
  it('accepts any record since the task was created or reinstated', () => {
    given(made).when(update('done'), operator).thenRefused(WRITEBACK);
    const done = moved('IMPLEMENTATION', 'COMPLETED', { cause: 'completed', reason: 'completed by an operator' });
    given([...made, [record(), operator]])
      .when(update('done'), operator)
      .then([done]);
    given([...recorded, [update('todo'), session()]])
      .when(update('done'), operator)
      .then([done]);
  });

  it("ends the holder's claim: completed if the record was made under it, else revoked", () => {
    const done = moved('IMPLEMENTATION', 'COMPLETED', { cause: 'completed', reason: 'completed by an operator' });
    given(recorded)
      .when(update('done'), operator)
      .then([ended('ClaimCompleted', 'completed by an operator'), done]);
    given([...recorded, [update('todo'), session()], [claim('A', 's2'), worker]])
      .when(update('done'), operator)
      .then([ended('ClaimRevoked', 'completed by an operator', 2), done]);
  });
});

describe('done, if a gate applies', () => {
  const at = (phase: 'CI_PENDING' | 'REVIEW' | 'READY_FOR_MERGE'): Step[] => [
    [create('A', { phase }), operator],
    [record(), operator],
  ];

  it('waits for CI', () => {
    const ci = { ...OPEN, ciGate: true };
    given(recorded, ci).when(update('done'), session()).thenRefused('task A has not passed CI, and is IMPLEMENTATION');
    given(at('CI_PENDING'), ci)
      .when(update('done'), operator)
      .thenRefused('task A has not passed CI, and is CI_PENDING');
    given(at('REVIEW'), ci).when(update('done'), operator).thenTypes(['PhaseMoved']);
  });

  it('waits for the merge', () => {
    const merge = { ...OPEN, mergeGate: true };
    given(recorded, merge).when(update('done'), session()).thenRefused('merge-gate');
    given(at('READY_FOR_MERGE'), merge)
      .when(update('done'), operator)
      .thenRefused('task A is completed only by its merge, and is still READY_FOR_MERGE');
  });

  it('requires the record first', () => {
    given(held, { ciGate: true, mergeGate: true }).when(update('done'), session()).thenRefused(WRITEBACK);
  });
});

describe('blocked', () => {
  const told = event('TaskProgressed', { task_id: 'A', epoch: 1, progress: null, notes: 'no key' });

  it('ends the claim and keeps the reason, the phase and the role', () => {
    const { task, answer } = given([
      [create('A', { nextRole: 'fixer' }), operator],
      [claim(), worker],
    ])
      .when(update('blocked', { notes: 'no key' }), session())
      .then([
        told,
        ended('ClaimBlocked', 'no key'),
        moved('IMPLEMENTATION', 'BLOCKED', { cause: 'updated', reason: 'no key' }, 'fixer'),
      ]);
    expect(answer).toEqual({ status: 'blocked' });
    expect(task('A').blocked).toEqual({ from: 'IMPLEMENTATION', reason: 'no key' });
  });

  it('by an operator ends the current claim', () => {
    given(held)
      .when(update('blocked', { notes: 'stop' }), operator)
      .thenTypes(['TaskProgressed', 'ClaimBlocked', 'PhaseMoved']);
  });

  it('repeated only adds notes, and is refused for a completed task', () => {
    given([...made, [update('blocked', { notes: 'no key' }), operator]])
      .when(update('blocked', { notes: 'still none' }), operator)
      .thenTypes(['TaskProgressed']);
    given([...made, [operate('waive'), operator]])
      .when(update('blocked', { notes: 'oh' }), operator)
      .thenRefused('task A is completed');
  });
});

describe('todo and in_progress', () => {
  it('todo releases the task', () => {
    const { answer } = given(held)
      .when(update('todo'), session())
      .then([ended('ClaimReleased')]);
    expect(answer).toEqual({ status: 'todo' });
  });

  it('todo, by an operator, revokes the claim', () => {
    given(held)
      .when(update('todo'), operator)
      .then([ended('ClaimRevoked')]);
    given(made).when(update('todo'), operator).then([]);
  });

  it("the answer has the task's actual status, not the requested one", () => {
    const past: Step[] = [
      [create('A', { phase: 'DRAFT' }), operator],
      moved('DRAFT', 'IMPLEMENTATION', { cause: 'handoff', reason: 'prepared' }),
    ];
    const { answer } = given([...past, [claim(), worker]])
      .when(update('todo'), session())
      .then([ended('ClaimReleased')]);
    expect(answer).toEqual({ status: 'in_progress' });
    expect(given(made).when(update('in_progress'), operator).then([]).answer).toEqual({ status: 'todo' });
  });

  it('in_progress reports progress in whole per cent', () => {
    given(held)
      .when(update('in_progress', { progress: 33.4 }), session())
      .then([event('TaskProgressed', { task_id: 'A', epoch: 1, progress: 33, notes: null })]);
    given(held).when(update('in_progress'), session()).then([]);
    given(made)
      .when(update('in_progress', { notes: 'look at this first' }), operator)
      .then([event('TaskProgressed', { task_id: 'A', epoch: null, progress: null, notes: 'look at this first' })]);
  });

  it.each(['todo', 'in_progress'] as const)('%s undoes neither a completion nor a block', (status) => {
    given([...made, [operate('waive'), operator]])
      .when(update(status), operator)
      .thenRefused('task A is completed');
    given([...made, [update('blocked', { notes: 'no key' }), operator]])
      .when(update(status), operator)
      .thenRefused('blocked');
    given([...made, [operate('cancel'), operator]])
      .when(update(status), operator)
      .thenRefused('cancelled');
  });

  it('is not for workers, nor for Baton itself', () => {
    given(held).when(update('in_progress'), worker).thenRefused('forbidden');
    given(held).when(update('in_progress'), system).thenRefused('forbidden');
    given(held)
      .when(update('in_progress', { task_id: 'X' }), session())
      .thenRefused('there is no task X');
  });
});
