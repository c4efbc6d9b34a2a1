import { event, type Event } from '../state/event.ts';
import { findPipelinePlan, findStepPlan, type PipelineRun } from '../state/runs/pipeline-run.ts';

/** Steps may lead back to earlier ones; a pipeline that goes round this often gets nowhere. */
export const MAX_STEP_VISITS = 100;

export function enterStep(run: PipelineRun, step: string, retry: boolean): Event[] {
  const visit = (run.history[step]?.visits ?? 0) + 1;
  if (findStepPlan(run, step) === undefined) return [failPipeline(run, `the plan has no step ${step}`)];
  if (visit > MAX_STEP_VISITS) return [failPipeline(run, `step ${step} was entered ${MAX_STEP_VISITS} times`)];
  return [event('StepStarted', { pipeline_id: run.id, step, visit, retry })];
}

/** On `PipelineStarted`. */
export function enterPipeline(run: PipelineRun): Event[] {
  const plan = findPipelinePlan(run);
  if (plan === undefined) return [failPipeline(run, `the plan has no pipeline ${run.name}`)];
  const first = plan.steps[0];
  if (first !== undefined) return enterStep(run, first.name, false);
  return [event('PipelineFinished', { pipeline_id: run.id, outcome: 'done', reason: null })];
}

function failPipeline({ id }: PipelineRun, reason: string): Event {
  return event('PipelineFinished', { pipeline_id: id, outcome: 'failed', reason });
}
