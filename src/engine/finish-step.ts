import type { StepPlan } from '../protocol/run-plan.ts';
import { event, type Event } from '../state/event.ts';
import { excerptStart, excerptEnd } from '../state/runs/excerpt.ts';
import { findPipelinePlan, findStepPlan, type CurrentStep, type PipelineRun } from '../state/runs/pipeline-run.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import { enterStep } from './enter-step.ts';
import { notifyEnd } from './notify.ts';
import { cancelPending, setTimer, timersOf } from './pending.ts';
import type { EngineContext } from './context.ts';

export interface StepResult {
  readonly outcome: RunOutcome;
  readonly reason: string | null;
  readonly output: string | null;
}

/** A step has come to its end, and what follows is settled with it: another step, another try, or the end of the pipeline. */
export function finishStep(world: EngineContext, run: PipelineRun, { outcome, reason, output }: StepResult): Event[] {
  const { step } = run;
  if (step === null || run.outcome !== null) return [];
  const why = reason === null ? null : excerptStart(reason);
  const finished = event('StepFinished', {
    pipeline_id: run.id,
    step: step.name,
    outcome,
    reason: why,
    output: output === null ? null : excerptEnd(output),
  });
  const plan = findStepPlan(run, step.name);
  const told = plan?.notify === true ? notifyEnd(world, 'Step', `${run.name}/${step.name}`, outcome, why) : [];
  return [
    ...cancelPending(timersOf(world.state, run.id)),
    finished,
    ...told,
    ...nextStep(world, run, step, plan, outcome, why),
  ];
}

function nextStep(
  world: EngineContext,
  run: PipelineRun,
  step: CurrentStep,
  plan: StepPlan | undefined,
  outcome: RunOutcome,
  reason: string | null,
): Event[] {
  if (outcome === 'done') {
    const next = plan?.on_done ?? stepAfter(run, step.name);
    return next === undefined ? [finishPipeline(run, 'done', null)] : enterStep(run, next, false);
  }
  if (outcome === 'failed') return afterFailure(world, run, step, plan, reason);
  const next = plan?.on_cancel;
  // A clean-up that is cancelled is not cleaned up after.
  if (next === undefined || next === step.name || isCancelled(run)) return [finishPipeline(run, 'cancelled', reason)];
  return enterStep(run, next, false);
}

function afterFailure(
  world: EngineContext,
  run: PipelineRun,
  { name, visit }: CurrentStep,
  plan: StepPlan | undefined,
  reason: string | null,
): Event[] {
  const { step: next, retries = 0, cooldown_ms: ms = 0 } = plan?.on_fail ?? {};
  if ((run.history[name]?.retries ?? 0) < retries) {
    if (ms === 0) return enterStep(run, name, true);
    return [setTimer(world, ms, { kind: 'retry', pipeline_id: run.id, step: name, visit: visit + 1 })];
  }
  if (next !== undefined) return enterStep(run, next, false);
  return [finishPipeline(run, 'failed', `step ${name} failed${reason === null ? '' : `: ${reason}`}`)];
}

/** Once a step was cancelled, what follows is clean-up, and the pipeline ends as cancelled however that goes. */
function finishPipeline(run: PipelineRun, outcome: RunOutcome, reason: string | null): Event {
  const wasCancelled = outcome === 'cancelled' || isCancelled(run);
  const why = wasCancelled ? (run.cancelling ?? reason) : reason;
  return event('PipelineFinished', {
    pipeline_id: run.id,
    outcome: wasCancelled ? 'cancelled' : outcome,
    reason: why === null ? null : excerptStart(why),
  });
}

function isCancelled({ history }: PipelineRun): boolean {
  return Object.values(history).some(({ outcome }) => outcome === 'cancelled');
}

function stepAfter(run: PipelineRun, name: string): string | undefined {
  const steps = findPipelinePlan(run)?.steps ?? [];
  return steps[steps.findIndex((step) => step.name === name) + 1]?.name;
}
