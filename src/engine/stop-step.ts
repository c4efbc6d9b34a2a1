import { event, type Event } from '../state/event.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import { endAgent } from './end-agent.ts';
import { finishStep } from './finish-step.ts';
import { cancelPending, timersOf } from './pending.ts';
import type { EngineContext } from './context.ts';

/** The current step ends before what runs it has. */
export function stopStep(world: EngineContext, run: PipelineRun, outcome: RunOutcome, reason: string): Event[] {
  const agent = world.state.agents.get(run.step?.agentId ?? '');
  // The end of its agent is the end of the step.
  if (agent?.outcome === null) return endAgent(world, agent, outcome, reason);
  return [...stopRunner(world, run, reason), ...finishStep(world, run, { outcome, reason, output: null })];
}

/** A pipeline ends at once, with everything inside it, and without clean-up: nobody is left to wait for that. */
export function stopPipeline(world: EngineContext, run: PipelineRun, outcome: RunOutcome, reason: string): Event[] {
  if (run.outcome !== null) return [];
  const { id: pipeline_id, step } = run;
  const agent = world.state.agents.get(step?.agentId ?? '');
  const ended = agent === undefined ? [] : endAgent(world, agent, outcome, reason);
  const finished =
    step === null ? [] : [event('StepFinished', { pipeline_id, step: step.name, outcome, reason, output: null })];
  return [
    ...ended,
    ...stopRunner(world, run, reason),
    ...cancelPending(timersOf(world.state, run.id)),
    ...finished,
    event('PipelineFinished', { pipeline_id, outcome, reason }),
  ];
}

/** On `PipelineCancelRequested`: the innermost step is cancelled first, so that each pipeline can clean up after its own. */
export function cancelPipeline(world: EngineContext, run: PipelineRun, reason: string): Event[] {
  if (run.outcome !== null) return [];
  const child = world.state.pipelines.get(run.step?.childId ?? '');
  if (child?.outcome === null) return [event('PipelineCancelRequested', { pipeline_id: child.id, reason })];
  if (run.step === null) return stopPipeline(world, run, 'cancelled', reason);
  return stopStep(world, run, 'cancelled', reason);
}

function stopRunner(world: EngineContext, { step }: PipelineRun, reason: string): Event[] {
  const { effects, pipelines } = world.state;
  const command_id = step?.commandId ?? '';
  const child = pipelines.get(step?.childId ?? '');
  const stopped = effects.has(`command:${command_id}`) ? [event('CommandCancelled', { command_id })] : [];
  return child === undefined ? stopped : [...stopped, ...stopPipeline(world, child, 'cancelled', reason)];
}
