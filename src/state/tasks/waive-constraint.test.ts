import { describe, expect, it } from 'vitest';
import { event } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import { mainWithout } from '../main/main-branch.ts';
import { create, operate, operator, system, waive } from '../say.cases.ts';
import { MAIN, seeMain } from '../workflow/say.cases.ts';
import { constraintsInForce } from './waive-constraint.ts';

const BOTH: readonly Step[] = [
  [create('A'), operator],
  [create('B'), operator],
];
const LIMITS = { max_files: 3, no_new_deps: true };

describe('a waived constraint', () => {
  it('no longer counts for the task, and is an entry with its reason', () => {
    const waived = event('ConstraintWaived', { task_id: 'A', constraint: 'max_files', reason: 'a large rename' });
    given(BOTH).when(waive('max_files'), operator).then([waived]);
    const { task } = given([...BOTH, waived]);
    expect(constraintsInForce(LIMITS, task('A'))).toEqual({ no_new_deps: true });
    expect(constraintsInForce(LIMITS, task('B'))).toEqual(LIMITS);
  });

  it('stays waived when the work begins again, and a repeated waiver changes nothing', () => {
    const again: readonly Step[] = [...BOTH, [waive('max_files'), operator], [operate('reinstate'), operator]];
    expect(constraintsInForce(LIMITS, given(again).task('A'))).toEqual({ no_new_deps: true });
    given(again).when(waive('max_files'), operator).then([]);
  });
});

it('a main that has commits of the task counts only up to the position before them', () => {
  const [NEXT, LAST] = ['2'.repeat(40), '3'.repeat(40)] as [string, string];
  const first = seeMain(MAIN, { by: null });
  const { state } = given([
    ...BOTH,
    [first, system],
    [seeMain(NEXT, { by: { old: MAIN, carried: ['A'] } }), system],
    [seeMain(LAST, { by: { old: NEXT, carried: ['A'] } }), system],
  ]);
  expect(mainWithout(state, state.tasks.get('A'))).toBe(MAIN);
  expect(mainWithout(state, undefined)).toBe(LAST);
});
