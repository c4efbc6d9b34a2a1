import { expect, it } from 'vitest';
import { buildRunbook } from './build/build-runbook.ts';
import { compareRules } from './gates/compare-rules.ts';
import { gateFieldsOf } from './gates/gate-fields.ts';
import { checksAnswerOf, describeChecks } from './runbook.ts';

it.each([
  ['a check that Baton runs', { required: [{ name: 'test', run: 'npm test' }] }, 'checked', 'checked'],
  ['a check that GitHub reports', { required: [{ name: 'build' }] }, 'checked', 'checked'],
  ['an empty list', { required: [] }, 'none', 'none'],
  ['other settings of ci alone', { protected: ['x'] }, 'unanswered', 'declined'],
  ['nothing', undefined, 'unanswered', 'declined'],
])('%s is an answer, or is none', (_, ci, answer, declined) => {
  const runbook = buildRunbook(ci === undefined ? {} : { ci });
  expect(checksAnswerOf(runbook, false)).toBe(answer);
  // An operator's earlier answer counts for as long as the runbook gives none.
  expect(checksAnswerOf(runbook, true)).toBe(declined);
});

it('an empty list and a missing one are the same gates, so that adding the list loosens nothing', () => {
  const fields = gateFieldsOf(buildRunbook({ ci: { required: [] } }));
  expect(compareRules(gateFieldsOf(buildRunbook({})), fields, 'none')).toEqual([]);
});

it('reports that nothing is checked, unless there are checks', () => {
  expect(describeChecks('checked')).toBe('');
  for (const answer of ['none', 'declined', 'unanswered'] as const)
    expect(describeChecks(answer)).toContain('checked before a merge');
});
