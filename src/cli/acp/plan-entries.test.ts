import { expect, it } from 'vitest';
import { stage } from '../view/view.cases.ts';
import { planOfStages, planOfSteps } from './plan-entries.ts';

it('has an entry for each stage, with what happens there now', () => {
  const stages = [
    stage('prep', 'done'),
    stage('implementer', 'done', { visits: 2 }),
    stage('ci', 'failed', { outcome: 'failed' }),
    stage('fixer', 'now', { activity: 'waiting' }),
    stage('merge', 'ahead'),
  ];
  expect(planOfStages(stages)).toEqual([
    { content: 'prep', status: 'completed', priority: 'medium' },
    { content: 'implementer ×2', status: 'completed', priority: 'medium' },
    { content: 'ci: failed', status: 'pending', priority: 'medium' },
    { content: 'fixer: waiting for a person', status: 'in_progress', priority: 'high' },
    { content: 'merge', status: 'pending', priority: 'medium' },
  ]);
});

it('has an entry for each step of a pipeline', () => {
  const step = {
    kind: 'shell',
    visits: 1,
    reason: null,
    output: null,
    exit_code: null,
    since: null,
    agent_id: null,
    agent_status: null,
    command_id: null,
    log: null,
    pipeline_id: null,
  } as const;
  const shown = planOfSteps([
    { ...step, name: 'build', status: 'done' },
    { ...step, name: 'review', status: 'waiting', visits: 2 },
    { ...step, name: 'ship', status: 'pending', visits: 0 },
  ]);
  expect(shown.map(({ content, status }) => `${status} ${content}`)).toEqual([
    'completed build',
    'in_progress review ×2: waiting',
    'pending ship',
  ]);
});
