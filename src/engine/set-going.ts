import { event, type Event } from '../state/event.ts';
import { isAttached, isAttaching, type AgentRun } from '../state/runs/agent-run.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import { setStepTimer } from './steps.ts';
import type { EngineContext } from './context.ts';

/** A person has answered: the agent is unparked, and the clock of its step goes on; where somebody has it, when they have left. */
export function unparkAgent(world: EngineContext, agent: AgentRun, by: 'person' | 'agent' = 'person'): Event[] {
  const run = findOwnerPipeline(world, agent);
  const counts = by === 'agent' ? { keeps_counts: true as const } : {};
  const unparked = event('AgentUnparked', { agent_id: agent.id, ...counts });
  if (run === undefined || run.step === null) return [unparked];
  const clock = isAttached(agent) || isAttaching(agent) ? [] : setStepTimer(world, run);
  return [unparked, event('StepResumed', { pipeline_id: run.id, step: run.step.name }), ...clock];
}

/** The pipeline whose step the agent is. */
export function findOwnerPipeline({ state }: EngineContext, { owner, id }: AgentRun): PipelineRun | undefined {
  const run = owner === null ? undefined : state.pipelines.get(owner.pipelineId);
  return run?.step?.agentId === id ? run : undefined;
}

export function describeReason(action: string, message: string | null): string {
  return message === null ? `decision: ${action}` : `decision: ${action}: ${message}`;
}
