import { describe, expect, it } from 'vitest';
import { extendWorkflow } from './extend-workflow.ts';
import { HANDOFF_EDGES, HANDOFF_ROLES } from './index.ts';
import { isJudging, isSeparated } from './judge.ts';

const BUILT_IN_WORKFLOW = { roles: HANDOFF_ROLES, edges: HANDOFF_EDGES };

describe('which sessions judge', () => {
  it.each([
    ['reviewer', 'IMPLEMENTATION', true],
    ['validator', 'IMPLEMENTATION', true],
    ['implementer', 'IMPLEMENTATION', false],
    ['fixer', 'IMPLEMENTATION', false],
    ['prep', 'DRAFT', false],
    ['closer', 'COMPLETED', false],
    [null, 'IMPLEMENTATION', false],
    [null, 'REVIEW', true],
    [null, 'READY_FOR_REVIEW', true],
    ['fixer', 'READY_FOR_MERGE', true],
  ] as const)('role %s in %s: %s', (role, phase, judges) => {
    expect(isJudging({ role, phase }, BUILT_IN_WORKFLOW)).toBe(judges);
  });

  it('includes a role of the runbook whose work goes to the validator', () => {
    const extended = extendWorkflow(BUILT_IN_WORKFLOW, {
      roles: [{ name: 'auditor', agent: 'audit-agent' }],
      edges: [
        { from: 'reviewer-agent', to: 'audit-agent', phase: 'REVIEW' },
        { from: 'audit-agent', to: 'validator-agent', phase: 'READY_FOR_MERGE' },
      ],
    });
    if (!extended.ok) throw new Error(extended.problems[0].message);
    expect(isJudging({ role: 'auditor', phase: 'IMPLEMENTATION' }, extended.value)).toBe(true);
  });
});

it('calls a judge separated only if both its calls and its shell are', () => {
  const both = [true, false].flatMap((stream) => [true, false].map((shell) => ({ stream, shell })));
  expect(both.filter(isSeparated)).toEqual([{ stream: true, shell: true }]);
});
