import { event, type Event } from '../state/event.ts';
import { isAttached, isAttaching, type AgentRun } from '../state/runs/agent-run.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import { timeStep } from './run-step.ts';
import type { World } from './world.ts';

/** A person has answered: the agent is unparked, and the clock of its step goes on; where somebody has it, when they have left. */
export function setGoing(world: World, agent: AgentRun, by: 'person' | 'agent' = 'person'): Event[] {
  const run = ownerOf(world, agent);
  const counts = by === 'agent' ? { keeps_counts: true as const } : {};
  const unparked = event('AgentUnparked', { agent_id: agent.id, ...counts });
  if (run === undefined || run.step === null) return [unparked];
  const clock = isAttached(agent) || isAttaching(agent) ? [] : timeStep(world, run);
  return [unparked, event('StepResumed', { pipeline_id: run.id, step: run.step.name }), ...clock];
}

/** The pipeline whose step the agent is. */
export function ownerOf({ state }: World, { owner, id }: AgentRun): PipelineRun | undefined {
  const run = owner === null ? undefined : state.pipelines.get(owner.pipelineId);
  return run?.step?.agentId === id ? run : undefined;
}

export function because(action: string, message: string | null): string {
  return message === null ? `decision: ${action}` : `decision: ${action}: ${message}`;
}
