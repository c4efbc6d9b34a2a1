import { describe, expect, it } from 'vitest';
import { PHASES, type Phase } from '../protocol/phase.ts';
import { isClaimable } from './tasks/claim-task.ts';
import { given, OPEN, type Step } from './given.cases.ts';
import { claim, create, exit, moved, operate, operator, record, session, update, worker } from './say.cases.ts';
import { missionIds, taskStatus } from './tasks/task.ts';

const at = (phase: Phase, next: string | null = null): Step[] => [
  [create(), operator],
  moved('IMPLEMENTATION', phase, { cause: 'exit-signal', reason: 'test' }, next),
];

describe('the status is derived', () => {
  it.each<[string, string, Step[]]>([
    ['todo', 'a new task', [[create(), operator]]],
    ['todo', 'a draft', [[create('A', { phase: 'DRAFT' }), operator]]],
    ['todo', 'one that starts late', [[create('A', { phase: 'READY_FOR_REVIEW' }), operator]]],
    [
      'in_progress',
      'a live claim',
      [
        [create(), operator],
        [claim(), worker],
      ],
    ],
    [
      'todo',
      'a claim that was given back',
      [
        [create(), operator],
        [claim(), worker],
        [update('todo'), session()],
      ],
    ],
    [
      'in_progress',
      'a draft that went on',
      [[create('A', { phase: 'DRAFT' }), operator], moved('DRAFT', 'IMPLEMENTATION', { cause: 'handoff', reason: '' })],
    ],
    ['in_progress', 'past its first phase', at('CI_PENDING')],
    [
      'in_progress',
      'back at its first phase, for a fixer',
      [...at('CI_PENDING'), moved('CI_PENDING', 'IMPLEMENTATION', { cause: 'checks', reason: '' }, 'fixer')],
    ],
    ['blocked', 'BLOCKED', at('BLOCKED')],
    ['todo', 'unblocked before it began', [...at('BLOCKED'), [operate('unblock'), operator]]],
    ['done', 'COMPLETED', at('COMPLETED')],
    ['todo', 'reinstated', [...at('COMPLETED'), [record({ status: 'todo' }), operator]]],
    ['todo', 'reinstated while under way', [...at('REVIEW'), [operate('reinstate'), operator]]],
  ])('%s: %s', (status, _, steps) => {
    expect(taskStatus(given(steps).task('A'))).toBe(status);
  });

  it('todo: a review that ended without a verdict', () => {
    const review: Step[] = [
      [create('A', { phase: 'READY_FOR_REVIEW' }), operator],
      [claim(), worker],
    ];
    expect(taskStatus(given(review).task('A'))).toBe('in_progress');
    expect(taskStatus(given([...review, [update('todo'), session()]]).task('A'))).toBe('todo');
    expect(taskStatus(given([...review, [exit('REVIEW'), session()]]).task('A'))).toBe('in_progress');
  });
});

describe('a task is claimable', () => {
  const WORKABLE = new Set<Phase>(['DRAFT', 'IMPLEMENTATION', 'READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);

  it.each(PHASES)('in %s, or not', (phase) => {
    const { state, task } = given(at(phase));
    const withGate = WORKABLE.has(phase);
    expect(isClaimable(state, task('A'), { ...OPEN, ciGate: true })).toBe(withGate);
    expect(isClaimable(state, task('A'), OPEN)).toBe(withGate || phase === 'CI_PENDING');
  });

  it('while it has no claim', () => {
    const { state, task } = given([
      [create(), operator],
      [claim(), worker],
    ]);
    expect(isClaimable(state, task('A'), OPEN)).toBe(false);
  });

  it('when all its dependencies are done', () => {
    const waits: Step[] = [
      [create('A'), operator],
      [create('B'), operator],
      [create('C', { after: ['A', 'B'] }), operator],
    ];
    const claimable = (steps: Step[]): boolean => {
      const { state, task } = given([...waits, ...steps]);
      return isClaimable(state, task('C'), OPEN);
    };
    const [a, b] = [operate('waive', 'x', 'A'), operate('waive', 'x', 'B')];
    expect(claimable([])).toBe(false);
    expect(claimable([[a, operator]])).toBe(false);
    expect(
      claimable([
        [a, operator],
        [b, operator],
      ]),
    ).toBe(true);
    expect(
      claimable([
        [a, operator],
        [b, operator],
        [operate('reinstate'), operator],
      ]),
    ).toBe(false);
  });
});

describe('missions name a task', () => {
  it('by its own id if that has the form, else by its serial number', () => {
    const { task } = given([
      [create('T0420', { epicId: 'E005', prdId: 'PRD-001' }), operator],
      [create('P0.1.1'), operator],
    ]);
    expect(missionIds(task('T0420'))).toEqual({ taskId: 'T0420', epicId: 'E005', prdId: 'PRD-001' });
    expect(missionIds(task('P0.1.1'))).toEqual({ taskId: 'T002', epicId: 'E000', prdId: 'PRD-000' });
  });
});
