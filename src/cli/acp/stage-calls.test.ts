import { expect, it } from 'vitest';
import { taskOverview, visit } from '../view/view.cases.ts';
import { stageCalls } from './stage-calls.ts';

const check = { name: 'test', outcome: 'failed', exit_code: 1, output: '1 of 7 failed', sandbox: null } as const;

it('has a call for each visit that has begun', () => {
  const view = taskOverview({
    id: 'W-1',
    visits: [
      visit('implementer', { holder: 'ada' }),
      visit('ci', { role: null, holder: null, epoch: null, activity: 'checks', outcome: 'failed' }),
      visit('fixer', { to: null, round: 1, outcome: null, epoch: 2 }),
      visit('reviewer', { to: null, activity: 'queued', outcome: null, epoch: null }),
    ],
    checks: { head: 'a', outcome: 'failed', checks: [check, { ...check, name: 'lint', outcome: 'passed' }] },
  });
  const calls = stageCalls(view);
  expect(calls.map(({ toolCallId, title, kind, status }) => [toolCallId, title, kind, status])).toEqual([
    ['W-1/visit-1', 'implementer: ada', 'edit', 'completed'],
    ['W-1/visit-2', 'ci (failed)', 'execute', 'failed'],
    ['W-1/visit-3', 'fixer, round 1', 'edit', 'in_progress'],
  ]);
  expect(JSON.stringify(calls[1]?.content)).toContain(String.raw`test: failed, exit code 1\n1 of 7 failed`);
  expect(calls[0]?.content).toBeUndefined();
});
