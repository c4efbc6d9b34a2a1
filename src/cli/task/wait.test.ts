import { expect, it } from 'vitest';
import type { TaskWait } from '../../api/operations/task-work.ts';
import { exitCodeOf, renderWaits } from './wait.ts';

it.each([
  [['done', 'done'], 0],
  [['done', 'cancelled'], 1],
  [['done', 'going'], 1],
  [['cancelled', 'waiting', 'going'], 3],
  [[], 1],
] as const)('tasks that are %j exit with %i', (states, code) => {
  expect(exitCodeOf(states.map((state) => ({ state })))).toBe(code);
});

it('names the decision of a task that waits', () => {
  const task: TaskWait = {
    task_id: 'T1',
    title: 'x',
    state: 'waiting',
    status: 'in_progress',
    phase: 'REVIEW',
    reason: 'Merge it?',
    decision_ids: ['d12345678'],
  };
  expect(
    renderWaits([task, { ...task, task_id: 'T22', state: 'done', phase: 'COMPLETED', reason: null, decision_ids: [] }]),
  ).toBe(
    'TASK  STATE               PHASE      NEXT\n' +
      'T1    waits for a person  REVIEW     Merge it?; baton decision show d1234567\n' +
      'T22   done                COMPLETED\n',
  );
});
