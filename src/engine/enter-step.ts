import { event, type Event } from '../state/event.ts';
import { planOf, stepPlanOf, type PipelineRun } from '../state/runs/pipeline-run.ts';

/** Steps may lead back to earlier ones; a pipeline that goes round this often gets nowhere. */
export const MOST_VISITS = 100;

export function enterStep(run: PipelineRun, step: string, retry: boolean): Event[] {
  const visit = (run.history[step]?.visits ?? 0) + 1;
  if (stepPlanOf(run, step) === undefined) return [fail(run, `the plan has no step ${step}`)];
  if (visit > MOST_VISITS) return [fail(run, `step ${step} was entered ${MOST_VISITS} times`)];
  return [event('StepStarted', { pipeline_id: run.id, step, visit, retry })];
}

/** On `PipelineStarted`. */
export function enterPipeline(run: PipelineRun): Event[] {
  const plan = planOf(run);
  if (plan === undefined) return [fail(run, `the plan has no pipeline ${run.name}`)];
  const first = plan.steps[0];
  if (first !== undefined) return enterStep(run, first.name, false);
  return [event('PipelineFinished', { pipeline_id: run.id, outcome: 'done', reason: null })];
}

function fail({ id }: PipelineRun, reason: string): Event {
  return event('PipelineFinished', { pipeline_id: id, outcome: 'failed', reason });
}
