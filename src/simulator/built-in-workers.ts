import type { WorkerPlan } from '../protocol/run-plan.ts';
import { buildRunbook } from '../runbook/build/build-runbook.ts';
import { withLibrary } from '../runbook/library.ts';
import { workerPlans } from '../runbook/plan.ts';

/** The workers of the built-in workflow, as a project without its own runbook gets them, and two for plain tasks. */
export function builtInWorkers(): readonly WorkerPlan[] {
  return [...workerPlans(withLibrary(buildRunbook({}))), ...PLAIN_WORKERS].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const PLAIN_TASKS = ['P*', 'N*'];

/** The agent that writes plain tasks would also judge them, and must not get its own. */
const PLAIN_WORKERS: readonly WorkerPlan[] = [
  {
    name: 'plain-all',
    concurrency: 2,
    tasks: PLAIN_TASKS,
    phases: ['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE'],
    plan: { kind: 'agent', agent: { name: 'plain-coder', run: 'scripted', requires: ['exit'] } },
  },
  {
    name: 'plain-coders',
    concurrency: 2,
    tasks: PLAIN_TASKS,
    phases: ['IMPLEMENTATION'],
    plan: { kind: 'agent', agent: { name: 'plain-coder', run: 'scripted', requires: ['exit', 'thought_record'] } },
  },
  {
    name: 'plain-judges',
    concurrency: 2,
    tasks: PLAIN_TASKS,
    phases: ['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE'],
    plan: { kind: 'agent', agent: { name: 'plain-judge', run: 'scripted', requires: ['exit'] } },
  },
];
