import { describe, expect, it } from 'vitest';
import type { Phase } from '../protocol/phase.ts';
import { given, OPEN, type Step } from './given.cases.ts';
import * as say from './say.cases.ts';
import { claim, create, exit, handoff, moved, operator, record, session, worker } from './say.cases.ts';
import type { SendHandoff } from './tasks/send-handoff.ts';

const playing = (role: string, phase: Phase): Step[] => [
  [create('A', { phase, nextRole: role }), operator],
  [claim('A', 's1', { role }), worker],
];
const ALL_WELL = ['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted', 'PhaseMoved'] as const;
const implementing = playing('implementer', 'IMPLEMENTATION');

describe('delivered with the exit signal', () => {
  it('only with completed', () => {
    const { task } = given([...implementing, [handoff(), session()]])
      .when(exit(), session())
      .thenTypes(ALL_WELL);
    expect(task('A')).toMatchObject({ phase: 'CI_PENDING', nextRole: 'reviewer', claim: null });
  });

  it.each([
    ['blocked', exit('IMPLEMENTATION', 'blocked'), 'ClaimBlocked'],
    ['failed', exit('IMPLEMENTATION', 'error'), 'ClaimFailed'],
    ['failed', exit('IMPLEMENTATION', 'completed', { violations: ['x'] }), 'ClaimFailed'],
  ] as const)('otherwise recorded as dropped: %s', (how, signal, type) => {
    const { task } = given([...implementing, [handoff(), session()]])
      .when(signal, session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDropped', type, 'PhaseMoved']);
    expect(task('A')).toMatchObject({ phase: 'BLOCKED', nextRole: 'implementer', endings: [{ how }] });
  });

  it.each([
    ['ClaimReleased', say.release(), session()],
    ['ClaimExpired', say.expire(), say.system],
    ['ClaimRevoked', say.release(), operator],
  ] as const)('dropped where the claim just ends: %s', (type, command, caller) => {
    given([...implementing, [handoff(), session()]])
      .when(command, caller)
      .thenTypes(['HandoffDropped', type]);
  });

  it.each<[string, Phase, Partial<SendHandoff>, Phase, string | null]>([
    ['reviewer', 'REVIEW', { phase: 'IMPLEMENTATION', nextRole: 'fixer' }, 'IMPLEMENTATION', 'fixer'],
    ['issue-manager', 'DRAFT', { phase: 'DRAFT', nextRole: 'prep' }, 'DRAFT', 'prep'],
    ['validator', 'READY_FOR_MERGE', { phase: 'IMPLEMENTATION', nextRole: 'fixer' }, 'IMPLEMENTATION', 'fixer'],
    ['implementer', 'IMPLEMENTATION', { phase: 'BLOCKED', nextRole: 'implementer' }, 'BLOCKED', 'implementer'],
  ])('the handoff wins over the arrow: %s in %s', (role, phase, sent, to, next) => {
    const rules = { ciGate: true, mergeGate: true };
    const { task, answer } = given(
      [...playing(role, phase), [handoff({ senderRole: role, ...sent }), session()]],
      rules,
    )
      .when(exit(phase), session())
      .thenTypes(ALL_WELL);
    expect(answer).toEqual({ next_phase: to, exit_reason: 'completed' });
    expect(task('A')).toMatchObject({ phase: to, nextRole: next });
  });

  it('one that is pending moves nothing', () => {
    const { task, answer } = given([
      ...playing('reviewer', 'REVIEW'),
      [handoff({ senderRole: 'reviewer', phase: null, nextRole: null }), session()],
    ])
      .when(exit('REVIEW'), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted']);
    expect(answer).toEqual({ next_phase: null, exit_reason: 'completed' });
    expect(task('A')).toMatchObject({ phase: 'REVIEW', nextRole: 'reviewer' });
  });

  it('opens no way around the writeback or a gate', () => {
    const straight = handoff({ phase: 'COMPLETED', nextRole: 'closer' });
    given([...implementing, [straight, session()]])
      .when(exit(), session())
      .thenRefused('writeback-required');
    const recorded: Step[] = [...implementing, [record(), session()], [straight, session()]];
    given(recorded, { ...OPEN, mergeGate: true })
      .when(exit(), session())
      .thenRefused('merge-gate');
    given(recorded, { ...OPEN, ciGate: true })
      .when(exit(), session())
      .thenRefused('ci-gate');
    given([...implementing, [handoff({ phase: 'READY_FOR_MERGE' }), session()]], { ...OPEN, ciGate: true })
      .when(exit(), session())
      .thenRefused('ci-gate');
    given(recorded).when(exit(), session()).thenTypes(ALL_WELL);
  });
});

describe('the closer', () => {
  const closing: Step[] = [
    [create(), operator],
    moved('IMPLEMENTATION', 'COMPLETED', { cause: 'merged', reason: 'merged' }, 'closer'),
    [claim('A', 's1', { role: 'closer' }), worker],
  ];
  const closed = handoff({ from: 'closer-agent', to: null, senderRole: 'closer', phase: 'COMPLETED', nextRole: null });

  it('ends the workflow: the task stays completed, and it is nobody’s turn', () => {
    const { task } = given([...closing, [closed, session()]])
      .when(exit('COMPLETED'), session())
      .thenTypes(ALL_WELL);
    expect(task('A')).toMatchObject({ phase: 'COMPLETED', nextRole: null, claim: null });
  });

  it('that ends without a word has closed it, too', () => {
    const { task } = given(closing)
      .when(exit('COMPLETED'), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    expect(task('A').nextRole).toBeNull();
  });

  it('that fails undoes nothing: the task stays completed, and to be closed', () => {
    const { task } = given(closing)
      .when(exit('COMPLETED', 'error', { notes: 'no net' }), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimFailed']);
    expect(task('A')).toMatchObject({ phase: 'COMPLETED', nextRole: 'closer', claim: null });
    const failed = handoff({
      from: 'closer-agent',
      to: 'orchestrator',
      senderRole: 'closer',
      phase: 'BLOCKED',
      nextRole: 'closer',
    });
    given([...closing, [failed, session()]])
      .when(exit('COMPLETED'), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted']);
  });

  it('cannot send the task anywhere else', () => {
    given(closing)
      .when(handoff({ senderRole: 'closer', phase: 'IMPLEMENTATION', nextRole: 'fixer' }), session())
      .thenRefused('task A is completed');
  });
});
