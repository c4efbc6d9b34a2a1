import type { Event, EventOf } from '../state/event.ts';
import { findPipelinePlan, type PipelineRun } from '../state/runs/pipeline-run.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import { finishStep } from './finish-step.ts';
import { endClaimOfRun } from './follow-claim.ts';
import { notifyEnd } from './notify.ts';
import { withdrawBudget } from './resolve-budget.ts';
import { endTimeBudget } from './time-budgets.ts';
import type { EngineContext } from './context.ts';

/** On `PipelineFinished`: the step that it was goes on, or those who asked for it hear of it, and its claim ends. */
export function onPipelineEnd(world: EngineContext, data: EventOf<'PipelineFinished'>['data']): Event[] {
  const { pipeline_id, outcome, reason } = data;
  const run = world.state.pipelines.get(pipeline_id);
  if (run === undefined) return [];
  return [...endBudget(world, run), ...finishParentStep(world, run, outcome, reason)];
}

function endBudget(world: EngineContext, run: PipelineRun): Event[] {
  if (findPipelinePlan(run)?.budget === undefined) return [];
  const scope = { kind: 'pipeline', id: run.id } as const;
  return [...withdrawBudget(world, scope), ...endTimeBudget(world, scope)];
}

function finishParentStep(world: EngineContext, run: PipelineRun, outcome: RunOutcome, reason: string | null): Event[] {
  if (run.parent !== null) {
    const above = world.state.pipelines.get(run.parent.pipelineId);
    if (above?.step?.childId !== run.id) return [];
    return finishStep(world, above, { outcome, reason, output: null });
  }
  // A worker's pipeline that failed leaves a blocked task behind: that needs somebody, unless the runbook says otherwise.
  const isNews = findPipelinePlan(run)?.notify ?? (run.task !== null && outcome === 'failed');
  const told = isNews ? notifyEnd(world, 'Pipeline', run.name, outcome, reason) : [];
  return [...told, ...endClaimOfRun(world, run.task, outcome, `pipeline ${run.name}`, reason)];
}
