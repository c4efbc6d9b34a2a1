import { describe, expect, it } from 'vitest';
import type { Phase } from '../protocol/phase.ts';
import { event } from './event.ts';
import { given, OPEN, type Step } from './given.cases.ts';
import * as say from './say.cases.ts';
import { claim, create, exit, handoff, moved, operator, record, session, worker } from './say.cases.ts';
import type { SendHandoff } from './tasks/send-handoff.ts';
import * as flow from './workflow/say.cases.ts';

const playing = (role: string, phase: Phase): Step[] => [
  [create('A', { phase, nextRole: role }), operator],
  [claim('A', 's1', { role }), worker],
];
const ALL_WELL = ['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted', 'PhaseMoved'] as const;
const implementing = playing('implementer', 'IMPLEMENTATION');

describe('delivered with the exit signal', () => {
  it('with completed', () => {
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

  it('a pending handoff moves nothing', () => {
    const { task, answer } = given([
      ...playing('reviewer', 'REVIEW'),
      [handoff({ senderRole: 'reviewer', phase: null, nextRole: null }), session()],
    ])
      .when(exit('REVIEW'), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted']);
    expect(answer).toEqual({ next_phase: null, exit_reason: 'completed' });
    expect(task('A')).toMatchObject({ phase: 'REVIEW', nextRole: 'reviewer' });
  });

  it('does not bypass the writeback or a gate', () => {
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

describe('an error handoff', () => {
  const REASON = 'NetworkError: no answer; suggested action: wait';
  const failed = (role: string, more: Partial<SendHandoff> = {}) =>
    handoff({
      from: role === 'issue-manager' ? role : `${role}-agent`,
      to: 'orchestrator',
      senderRole: role,
      phase: 'BLOCKED',
      nextRole: role,
      xml: flow.failure(true),
      ...more,
    });

  it.each([
    ['completed', exit(), 'ClaimCompleted', 'completed', REASON],
    ['blocked', exit('IMPLEMENTATION', 'blocked'), 'ClaimBlocked', 'blocked', REASON],
    ['error', exit('IMPLEMENTATION', 'error'), 'ClaimFailed', 'error', REASON],
    [
      'completed, but it broke a constraint',
      exit('IMPLEMENTATION', 'completed', { violations: ['max_files: 9 > 3'] }),
      'ClaimFailed',
      'error',
      `${REASON}; max_files: 9 > 3`,
    ],
  ] as const)('is delivered with an exit signal of any reason: %s', (_, signal, type, exit_reason, reason) => {
    const { task, answer } = given([...implementing, [failed('implementer'), session()]])
      .when(signal, session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', type, 'PhaseMoved']);
    expect(answer).toEqual({ next_phase: 'BLOCKED', exit_reason });
    expect(task('A')).toMatchObject({
      phase: 'BLOCKED',
      nextRole: 'implementer',
      blocked: { from: 'IMPLEMENTATION', reason },
      flow: { retries: 1, error: { to: 'orchestrator' }, handoff: null },
    });
  });

  it('is delivered if the result reports that the work failed', () => {
    given([...implementing, [say.result('failed'), session()], [failed('implementer'), session()]])
      .when(exit(), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimFailed', 'PhaseMoved']);
  });

  it('gives its reason to the claim, unless the signal has its own notes', () => {
    const steps: Step[] = [...implementing, [failed('implementer'), session()]];
    const reasonOf = (notes?: string) =>
      given([...steps, [exit('IMPLEMENTATION', 'error', notes === undefined ? {} : { notes }), session()]]).task('A')
        .endings[0]?.reason;
    expect(reasonOf()).toBe(REASON);
    expect(reasonOf('the registry is down')).toBe('the registry is down');
  });

  it.each<[string, Phase, Phase]>([
    ['issue-manager', 'DRAFT', 'DRAFT'],
    ['prep', 'DRAFT', 'DRAFT'],
    ['implementer', 'IMPLEMENTATION', 'IMPLEMENTATION'],
    ['reviewer', 'READY_FOR_REVIEW', 'REVIEW'],
    ['fixer', 'IMPLEMENTATION', 'IMPLEMENTATION'],
    ['validator', 'READY_FOR_MERGE', 'READY_FOR_MERGE'],
  ])('blocks the task for the same role: %s in %s', (role, phase, working) => {
    const rules = { ciGate: true, mergeGate: true };
    const { task } = given([...playing(role, phase), [failed(role), session()]], rules)
      .when(exit(working, 'error'), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimFailed', 'PhaseMoved']);
    expect(task('A')).toMatchObject({ phase: 'BLOCKED', nextRole: role, blocked: { from: working, reason: REASON } });
  });

  it('replaces the previous one, and is replaced by work that is handed on', () => {
    const first: Step[] = [...implementing, [failed('implementer', { handoffId: 'h1' }), session()]];
    given(first)
      .when(failed('implementer', { handoffId: 'h2' }), session())
      .thenTypes(['HandoffDropped', 'HandoffHeld']);
    const second: Step[] = [...first, [failed('implementer', { handoffId: 'h2' }), session()]];
    const { task } = given([...second, [exit('IMPLEMENTATION', 'error'), session()]]);
    expect(task('A').flow).toMatchObject({ retries: 1, error: { handoff_id: 'h2' } });
    given([...second, [handoff({ handoffId: 'h3' }), session()]])
      .when(exit('IMPLEMENTATION', 'error'), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDropped', 'ClaimFailed', 'PhaseMoved']);
  });

  it.each([
    ['ClaimReleased', say.release(), session()],
    ['ClaimExpired', say.expire(), say.system],
    ['ClaimRevoked', say.release(), operator],
  ] as const)('is dropped if the claim ends without an exit signal: %s', (type, command, caller) => {
    const { task } = given([...implementing, [failed('implementer'), session()]])
      .when(command, caller)
      .thenTypes(['HandoffDropped', type]);
    expect(task('A').flow).toMatchObject({ retries: 0, error: null });
  });

  it('is delivered by an exit signal that the outbox kept while the claim lived', () => {
    const expired: Step[] = [...implementing, [failed('implementer'), session()], [say.expire(), say.system]];
    const { task } = given(expired)
      .when(exit('IMPLEMENTATION', 'error'), { ...session(), keptAt: '2000-01-01T00:00:00.000Z' })
      .thenTypes(['ClaimRestored', 'AgentSessionCompleted', 'HandoffDelivered', 'ClaimFailed', 'PhaseMoved']);
    expect(task('A').blocked?.reason).toBe(REASON);
  });

  it('is delivered by `agent:signal complete` if the exit protocol is off', () => {
    const complete: Parameters<ReturnType<typeof given>['when']>[0] = {
      kind: 'signal-agent',
      command: { signal: 'complete', exitProtocol: false, eventId: 'e1', at: '2026-01-01T00:00:00.000Z' },
    };
    const { task } = given([...implementing, [failed('implementer'), session()]])
      .when(complete, session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted', 'PhaseMoved']);
    expect(task('A').blocked?.reason).toBe(REASON);
  });

  it('of an operator blocks the task with the same reason', () => {
    const { task } = given(playing('implementer', 'IMPLEMENTATION').slice(0, 1))
      .when(failed('implementer'), operator)
      .thenTypes(['HandoffDelivered', 'PhaseMoved']);
    expect(task('A').blocked?.reason).toBe(REASON);
  });

  it("keeps the role's input, which the next session needs again", () => {
    const input = say.heldHandoff({ from: 'prep-agent', to: 'implementer-agent', next_role: 'implementer' });
    const steps: Step[] = [...implementing, event('HandoffDelivered', input), [failed('implementer'), session()]];
    const { task } = given([...steps, [exit('IMPLEMENTATION', 'error'), session()]]);
    expect(task('A').flow.handoff).toEqual(input);
  });

  describe('counts its tries', () => {
    const round = (epoch: number, recoverable: boolean): Step[] => [
      [claim('A', `s${epoch}`, { role: 'implementer' }), worker],
      [failed('implementer', { xml: flow.failure(recoverable) }), session(`s${epoch}`, 'A', epoch)],
      [exit('IMPLEMENTATION', 'error', { eventId: `e${epoch}` }), session(`s${epoch}`, 'A', epoch)],
      [say.operate('unblock'), operator],
    ];
    const start: Step[] = [[create('A', { nextRole: 'implementer' }), operator]];
    const retries = (...steps: Step[]) => given([...start, ...steps]).task('A').flow.retries;

    it('over sessions, and only those of recoverable errors', () => {
      expect(retries(...round(1, true), ...round(2, true))).toBe(2);
      expect(retries(...round(1, false), ...round(2, false))).toBe(0);
      expect(retries(...round(1, true), ...round(2, false), ...round(3, true))).toBe(2);
    });

    it('from the start after a success, with or without a handoff', () => {
      const next: Step = [claim('A', 's2', { role: 'implementer' }), worker];
      const done: Step = [exit('IMPLEMENTATION', 'completed', { eventId: 'e2' }), session('s2', 'A', 2)];
      const sent: Step = [handoff({ handoffId: 'h2' }), session('s2', 'A', 2)];
      expect(retries(...round(1, true), next, done)).toBe(0);
      expect(retries(...round(1, true), next, sent, done)).toBe(0);
      expect(retries(...round(1, true), next, [say.expire('A', 2), say.system])).toBe(1);
    });
  });
});

describe('the closer', () => {
  const closing: Step[] = [
    [create(), operator],
    moved('IMPLEMENTATION', 'COMPLETED', { cause: 'merged', reason: 'merged' }, 'closer'),
    [claim('A', 's1', { role: 'closer' }), worker],
  ];
  const closed = handoff({ from: 'closer-agent', to: null, senderRole: 'closer', phase: 'COMPLETED', nextRole: null });

  it('ends the workflow: the task stays completed, and no role is next', () => {
    const { task } = given([...closing, [closed, session()]])
      .when(exit('COMPLETED'), session())
      .thenTypes(ALL_WELL);
    expect(task('A')).toMatchObject({ phase: 'COMPLETED', nextRole: null, claim: null });
  });

  it('also closes the task if its session ends without a signal', () => {
    const { task } = given(closing)
      .when(exit('COMPLETED'), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    expect(task('A').nextRole).toBeNull();
  });

  it('undoes nothing if it fails: the task stays completed, but not closed', () => {
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
    given([...closing, [failed, session()]])
      .when(exit('COMPLETED', 'error'), session())
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimFailed']);
  });

  it('cannot hand the task to another role', () => {
    given(closing)
      .when(handoff({ senderRole: 'closer', phase: 'IMPLEMENTATION', nextRole: 'fixer' }), session())
      .thenRefused('task A is completed');
  });
});
