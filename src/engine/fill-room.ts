import type { AgentPlan } from '../protocol/run-plan.ts';
import type { Event } from '../state/event.ts';
import { hasCapacity } from '../state/runs/capacity.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import { dispatchWorkers } from './dispatch.ts';
import { findQueued, requestAgent } from './steps.ts';
import type { EngineContext } from './context.ts';

/** Something has ended, or there is new work: steps that wait for room go first, oldest first, then workers take tasks. */
export function fillCapacity(world: EngineContext): Event[] {
  const { state, rules } = world;
  const starting: AgentPlan[] = [];
  const started: Event[] = [];
  for (const { run, plan } of queuedSteps(world)) {
    if (run.step === null || !hasCapacity(state, plan, rules, starting)) continue;
    starting.push(plan);
    started.push(...requestAgent(world, run, run.step.name, plan));
  }
  return [...started, ...dispatchWorkers(world, starting)];
}

function queuedSteps({ state }: EngineContext): { readonly run: PipelineRun; readonly plan: AgentPlan }[] {
  const queued: { readonly run: PipelineRun; readonly plan: AgentPlan }[] = [];
  for (const run of state.pipelines.values()) {
    const plan = findQueued(state, run);
    if (plan !== undefined) queued.push({ run, plan });
  }
  // The order of a map is no order to rely on: see `keep-newest`.
  return queued.sort(
    (a, b) => compare(a.run.step?.since ?? '', b.run.step?.since ?? '') || compare(a.run.id, b.run.id),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
