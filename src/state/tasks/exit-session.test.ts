import { describe, expect, it } from 'vitest';
import type { AgentSessionCompleted } from '../../protocol/agent-session-completed.ts';
import type { ExitReason, Phase } from '../../protocol/phase.ts';
import { event, type Event } from '../event.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import { claim, create, ended, exit, moved, operator, record, result, session, worker } from '../say.cases.ts';

const at = (phase: Phase, more: Parameters<typeof claim>[2] = {}): Step[] => [
  [create('A', { phase }), operator],
  [claim('A', 's1', more), worker],
];
const held = at('IMPLEMENTATION');
const completed = (more: Partial<AgentSessionCompleted> = {}): Event =>
  event('AgentSessionCompleted', {
    event_id: 'e1',
    event_type: 'AgentSessionCompleted',
    timestamp: '2026-01-01T00:00:00.000Z',
    source: 'agent_exit_protocol',
    session_id: 's1',
    actor_id: 'session:s1',
    task_id: 'A',
    epoch: 1,
    phase_completed: 'IMPLEMENTATION',
    exit_reason: 'completed',
    next_phase: 'CI_PENDING',
    ...more,
  });

describe('what happens after exit', () => {
  it('the entry, the end of the claim and the phase are recorded in one transaction', () => {
    const { answer, task } = given(held)
      .when(exit(), session())
      .then([
        completed(),
        ended('ClaimCompleted'),
        moved('IMPLEMENTATION', 'CI_PENDING', { cause: 'exit-signal', reason: 'exit signal' }),
      ]);
    expect(answer).toEqual({ next_phase: 'CI_PENDING', exit_reason: 'completed' });
    expect(task('A')).toMatchObject({ phase: 'CI_PENDING', claim: null, nextRole: null });
  });

  it.each<[Phase, Phase]>([
    ['DRAFT', 'IMPLEMENTATION'],
    ['IMPLEMENTATION', 'CI_PENDING'],
    ['CI_PENDING', 'READY_FOR_REVIEW'],
    ['REVIEW', 'READY_FOR_MERGE'],
  ])('%s, completed → %s', (from, to) => {
    const { task } = given(at(from))
      .when(exit(from), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    expect(task('A').phase).toBe(to);
  });

  it.each<[ExitReason, 'ClaimBlocked' | 'ClaimFailed']>([
    ['blocked', 'ClaimBlocked'],
    ['error', 'ClaimFailed'],
  ])('%s → BLOCKED, and the reason is kept', (reason, type) => {
    const { task } = given(at('REVIEW'))
      .when(exit('REVIEW', reason, { notes: 'no key' }), session())
      .then([
        completed({ phase_completed: 'REVIEW', exit_reason: reason, next_phase: 'BLOCKED', notes: 'no key' }),
        ended(type, 'no key'),
        moved('REVIEW', 'BLOCKED', { cause: 'exit-signal', reason: 'no key' }),
      ]);
    expect(task('A').blocked).toEqual({ from: 'REVIEW', reason: 'no key' });
  });

  it('a review claimed in READY_FOR_REVIEW is in REVIEW', () => {
    given(at('READY_FOR_REVIEW')).when(exit('READY_FOR_REVIEW'), session()).thenRefused('phase-mismatch');
    expect(
      given(at('READY_FOR_REVIEW'))
        .when(exit('REVIEW'), session())
        .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']).answer,
    ).toEqual({
      next_phase: 'READY_FOR_MERGE',
      exit_reason: 'completed',
    });
  });

  it('a blocked task keeps its next role', () => {
    const fixing: Step[] = [
      [create('A', { nextRole: 'fixer' }), operator],
      [claim('A', 's1', { role: 'fixer' }), worker],
    ];
    expect(given([...fixing, [exit('IMPLEMENTATION', 'error'), session()]]).task('A').nextRole).toBe('fixer');
    expect(given([...fixing, [exit(), session()]]).task('A').nextRole).toBeNull();
  });
});

describe('completed becomes error', () => {
  it('if Baton measured otherwise, with every violation named', () => {
    const violations = ['max_files: 9 > 3', 'no_new_deps: left-pad'];
    given(held)
      .when(exit('IMPLEMENTATION', 'completed', { violations, notes: 'all fine' }), session())
      .then([
        completed({ exit_reason: 'error', claimed_exit_reason: 'completed', next_phase: 'BLOCKED', notes: 'all fine' }),
        ended('ClaimFailed', 'max_files: 9 > 3; no_new_deps: left-pad'),
        moved('IMPLEMENTATION', 'BLOCKED', { cause: 'exit-signal', reason: 'max_files: 9 > 3; no_new_deps: left-pad' }),
      ]);
  });

  it.each(['failed', 'blocked'] as const)('where the result says %s', (status) => {
    const { task } = given([...held, [result(status), session()]])
      .when(exit(), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimFailed', 'PhaseMoved']);
    expect(task('A').blocked?.reason).toBe(`the result says ${status}`);
  });

  it('only for the newest result, and only if completion was claimed', () => {
    given([...held, [result('failed'), session()], [result(), session()]])
      .when(exit(), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    given(held)
      .when(exit('IMPLEMENTATION', 'blocked', { violations: ['x'] }), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimBlocked', 'PhaseMoved']);
  });
});

describe('a result', () => {
  it('is handed in under a claim, about its own task', () => {
    given(held)
      .when(result('completed', 'T002'), session())
      .thenRefused('the result is about T002, but the mission is about T001');
    given(held).when(result(), operator).thenRefused('forbidden');
    expect(given(held).when(result(), session()).thenTypes(['ResultSubmitted']).answer).toEqual({
      task_id: 'A',
      status: 'completed',
    });
  });
});

it('a result in which a form was not filled in is refused', () => {
  const { kind, command } = result();
  if (kind !== 'submit-result') throw new Error(kind);
  const [first, ...rest] = command.result.log;
  if (first === undefined) throw new Error('no log');
  const log = [{ ...first, message: 'FILL IN: what you did' }, ...rest];
  given(held)
    .when({ kind, command: { result: { ...command.result, log } } }, session())
    .thenRefused('the field log[0].message of the result still has the placeholder of the form');
});

describe('the last arrow', () => {
  const last = at('READY_FOR_MERGE');

  it('needs the writeback, like every way to done', () => {
    given(last)
      .when(exit('READY_FOR_MERGE'), session())
      .thenRefused('Writeback required: thought_record must be recorded before task completion.');
    given([...last, [record(), session()]])
      .when(exit('READY_FOR_MERGE'), session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
  });

  it('and other phases with gates cannot be completed either', () => {
    const recorded: Step[] = [...last, [record(), session()]];
    given(recorded, { ...OPEN, mergeGate: true })
      .when(exit('READY_FOR_MERGE'), session())
      .thenRefused('merge-gate');
    given(
      [
        [create('A', { phase: 'DRAFT' }), operator],
        [claim(), worker],
        moved('DRAFT', 'CI_PENDING', { cause: 'exit-signal', reason: 'test' }),
      ],
      {
        ...OPEN,
        ciGate: true,
      },
    )
      .when(exit('CI_PENDING'), session())
      .thenRefused('task A has not passed CI, and is CI_PENDING');
  });
});
