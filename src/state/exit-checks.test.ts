import { describe, expect, it } from 'vitest';
import type { Phase } from '../protocol/phase.ts';
import { given, type Step } from './given.cases.ts';
import * as say from './say.cases.ts';
import { claim, create, exit, expire, operator, record, result, session, system, worker } from './say.cases.ts';

const at = (phase: Phase, more: Parameters<typeof claim>[2] = {}): Step[] => [
  [create('A', { phase }), operator],
  [claim('A', 's1', more), worker],
];
const held = at('IMPLEMENTATION');

describe('check 9: a repeat', () => {
  it('gets the first answer again, and nothing changes', () => {
    const { answer } = given([...held, [exit(), session()]])
      .when(exit(), session())
      .then([]);
    expect(answer).toEqual({ next_phase: 'CI_PENDING', exit_reason: 'completed' });
  });

  it('even if another session holds the task, and for a signal that was changed to an error', () => {
    const judged = exit('IMPLEMENTATION', 'completed', { violations: ['max_files: 9 > 3'] });
    const first: Step[] = [
      ...held,
      [judged, session()],
      [say.operate('unblock'), operator],
      [claim('A', 's2'), worker],
    ];
    expect(given(first).when(exit(), session()).then([]).answer).toEqual({
      next_phase: 'BLOCKED',
      exit_reason: 'error',
    });
  });

  it('differs from the first in no field', () => {
    const done: Step[] = [...held, [exit(), session()]];
    for (const other of [
      exit('IMPLEMENTATION', 'blocked'),
      exit('CI_PENDING'),
      exit('IMPLEMENTATION', 'completed', { notes: 'x' }),
    ])
      given(done).when(other, session()).thenRefused('session has no active work phase');
  });
});

describe('check 10: a live claim', () => {
  const NONE = 'session has no active work phase';

  it('refuses a signal whose claim is gone', () => {
    given([...held, [expire(), system]])
      .when(exit(), session())
      .thenRefused(NONE);
    given([...held, [expire(), system], [claim('A', 's2'), worker]])
      .when(exit(), session())
      .thenRefused(NONE);
  });

  it('comes before the phase, and before missing messages', () => {
    given([...at('IMPLEMENTATION', { requires: ['result'] }), [expire(), system]])
      .when(exit('REVIEW'), session())
      .thenRefused(NONE);
  });

  it('another session’s token ends that session, and no other', () => {
    const two: Step[] = [...held, [create('B', { phase: 'DRAFT' }), operator], [claim('B', 's2'), worker]];
    given(two).when(exit('IMPLEMENTATION'), session('s2', 'B')).thenRefused('phase-mismatch');
    const { task } = given(two)
      .when(exit('DRAFT'), session('s2', 'B'))
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    expect(task('A').claim?.sessionId).toBe('s1');
    given(two).when(exit(), session('s9')).thenRefused(NONE);
    for (const caller of [operator, worker, system]) given(two).when(exit(), caller).thenRefused('forbidden');
  });
});

describe('check 11: the phase', () => {
  it('must be the phase of the task', () => {
    given(held)
      .when(exit('REVIEW'), session())
      .thenRefused("phase mismatch: exit signal claims 'REVIEW' but session is in 'IMPLEMENTATION'");
  });

  it('comes before missing messages', () => {
    given(at('IMPLEMENTATION', { requires: ['result'] }))
      .when(exit('BLOCKED'), session())
      .thenRefused('phase-mismatch');
  });
});

describe('check 12: owed messages', () => {
  const owing = at('IMPLEMENTATION', {
    requires: ['exit', 'result', 'handoff', 'thought_record'],
    role: 'implementer',
  });

  it('names everything that is missing', () => {
    given(owing).when(exit(), session()).thenRefused('cannot complete: missing result, handoff, thought_record');
    given([...owing, [result(), session()]])
      .when(exit(), session())
      .thenRefused('cannot complete: missing handoff, thought_record');
  });

  it('accepts a result, a record under this claim and a handoff', () => {
    given([...owing, [result(), session()], [record(), session()], [say.handoff(), session()]])
      .when(exit(), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted', 'PhaseMoved']);
    given([...owing, [result(), session()], [record(), operator], [say.handoff(), session()]])
      .when(exit(), session())
      .thenRefused('cannot complete: missing thought_record');
  });

  it('requires a record if the session committed anything', () => {
    const committed = exit('IMPLEMENTATION', 'completed', { committed: true });
    given(held).when(committed, session()).thenRefused('cannot complete: missing thought_record');
    given([...held, [record(), session()]])
      .when(committed, session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
  });

  it('requires nothing if nothing was completed', () => {
    given(owing)
      .when(exit('IMPLEMENTATION', 'blocked'), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimBlocked', 'PhaseMoved']);
  });
});
