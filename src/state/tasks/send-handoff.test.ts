import { describe, expect, it } from 'vitest';
import type { Phase } from '../../protocol/phase.ts';
import { event } from '../event.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import * as say from '../say.cases.ts';
import { claim, create, ended, handoff, heldHandoff, moved, operator, record, session, worker } from '../say.cases.ts';

const playing = (role: string, phase: Phase): Step[] => [
  [create('A', { phase, nextRole: role }), operator],
  [claim('A', 's1', { role }), worker],
];
const implementing = playing('implementer', 'IMPLEMENTATION');

describe('a handoff under a claim', () => {
  it('is held until the session ends', () => {
    const { task, answer } = given(implementing)
      .when(handoff(), session())
      .then([event('HandoffHeld', heldHandoff())]);
    expect(answer).toEqual({ held: true });
    expect(task('A')).toMatchObject({ phase: 'IMPLEMENTATION', claim: { handoff: { handoff_id: 'h1' } } });
  });

  it('is sent by the role that the session plays, and by a session only', () => {
    given(implementing)
      .when(handoff({ from: 'reviewer-agent', senderRole: 'reviewer' }), session())
      .thenRefused('this session plays implementer, and cannot send as reviewer-agent');
    given([
      [create(), operator],
      [claim(), worker],
    ])
      .when(handoff(), session())
      .thenRefused('this session plays no role, and cannot send as implementer-agent');
    given(implementing).when(handoff(), worker).thenRefused('forbidden');
    given(implementing).when(handoff(), say.system).thenRefused('forbidden');
    given(implementing)
      .when(handoff({ taskId: 'X' }), session())
      .thenRefused('there is no task X');
  });

  it('replaces the previous one, which is recorded as dropped', () => {
    given([...implementing, [handoff(), session()]])
      .when(handoff({ handoffId: 'h2' }), session())
      .then([
        event('HandoffDropped', { ...heldHandoff(), reason: 'another was sent' }),
        event('HandoffHeld', heldHandoff({ handoff_id: 'h2' })),
      ]);
  });
});

describe('a handoff sent by an operator', () => {
  it('takes effect at once', () => {
    const { task, answer } = given([[create(), operator]])
      .when(handoff(), operator)
      .then([
        event('HandoffDelivered', heldHandoff()),
        moved(
          'IMPLEMENTATION',
          'CI_PENDING',
          { cause: 'handoff', reason: 'handoff from implementer-agent' },
          'reviewer',
        ),
      ]);
    expect(answer).toEqual({ held: false });
    expect(task('A')).toMatchObject({ phase: 'CI_PENDING', nextRole: 'reviewer' });
  });

  it('completes the claim of the sending role, and drops the handoff that it held', () => {
    given([...implementing, [handoff(), session()]])
      .when(handoff({ handoffId: 'h2' }), operator)
      .then([
        event('HandoffDelivered', heldHandoff({ handoff_id: 'h2' })),
        event('HandoffDropped', { ...heldHandoff(), reason: 'the claim ended: completed' }),
        ended('ClaimCompleted', 'an operator sent the handoff'),
        moved(
          'IMPLEMENTATION',
          'CI_PENDING',
          { cause: 'handoff', reason: 'handoff from implementer-agent' },
          'reviewer',
        ),
      ]);
  });

  it('leaves the holder its claim and its handoff if it is pending', () => {
    const { task } = given([...implementing, [handoff(), session()]])
      .when(handoff({ handoffId: 'h2', phase: null, nextRole: null }), operator)
      .thenTypes(['HandoffDelivered']);
    expect(task('A').claim?.handoff?.handoff_id).toBe('h1');
  });

  it('is refused out of turn, on a blocked task and on a completed one', () => {
    given(playing('reviewer', 'REVIEW'))
      .when(handoff(), operator)
      .thenRefused('the next role is reviewer, which implementer-agent does not play');
    given([[create('A', { nextRole: 'fixer' }), operator]])
      .when(handoff(), operator)
      .thenRefused('out-of-turn');
    given([
      [create(), operator],
      [say.operate('cancel'), operator],
    ])
      .when(handoff(), operator)
      .thenRefused('cancelled');
    given([
      [create(), operator],
      [say.operate('waive'), operator],
    ])
      .when(handoff(), operator)
      .thenRefused('task A is completed');
  });

  it('passes no gate and skips no writeback', () => {
    const merged = handoff({
      from: 'validator-agent',
      to: 'closer-agent',
      senderRole: 'validator',
      phase: 'COMPLETED',
      nextRole: 'closer',
    });
    const ready: Step[] = [[create('A', { phase: 'READY_FOR_MERGE', nextRole: 'validator' }), operator]];
    given(ready).when(merged, operator).thenRefused('writeback-required');
    given([...ready, [record(), operator]])
      .when(merged, operator)
      .thenTypes(['HandoffDelivered', 'PhaseMoved']);
    given([...ready, [record(), operator]], { ...OPEN, mergeGate: true })
      .when(merged, operator)
      .thenRefused('merge-gate');
  });
});
