import { event, type Event } from '../state/event.ts';
import { type AgentRun, isAttached, isAttaching } from '../state/runs/agent-run.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { EngineContext } from './context.ts';
import { setStepTimer } from './steps.ts';

/** Sends a message to the agent's process if there is one, else to a new process that resumes the conversation. */
export function sendOrResume(world: EngineContext, agent: AgentRun, text: string): Event {
  if (agent.process === 'gone') return resumeAgent(agent, text, false);
  return event('MessageRequested', { message_id: world.newId(), agent_id: agent.id, text });
}

/**
 * Continues an agent. The message is null if the agent's turn is in progress. An agent that has not started yet needs
 * nothing.
 */
export function wakeAgent(world: EngineContext, agent: AgentRun, text: string | null): Event[] {
  if (agent.process === 'gone') return [resumeAgent(agent, text ?? CONTINUE_MESSAGE, false)];
  if (text !== null) return [sendOrResume(world, agent, text)];
  if (agent.process === 'wanted') return [];
  const message = { message_id: world.newId(), agent_id: agent.id, text: CONTINUE_MESSAGE, wakes: true };
  return [event('MessageRequested', message)];
}

export const CONTINUE_MESSAGE = 'Continue where you stopped.';

/** If a person answered with a restart, the next process gets the answer, whatever it is started for. */
export function resumeAgent(
  { id: agent_id, start, restart }: AgentRun,
  message: string | null,
  append: boolean,
): Event {
  const texts = [restart, message ?? undefined].filter((text) => text !== undefined);
  const all = texts.length === 0 ? null : texts.join('\n\n');
  return event('AgentResumeRequested', { agent_id, start: start + 1, message: all, append });
}

/** Also continues the step's time limit; while a person is attached, only after they detach. */
export function unparkAgent(world: EngineContext, agent: AgentRun, by: 'person' | 'agent' = 'person'): Event[] {
  const run = findOwnerPipeline(world, agent);
  const counts = by === 'agent' ? { keeps_counts: true as const } : {};
  const unparked = event('AgentUnparked', { agent_id: agent.id, ...counts });
  if (run === undefined || run.step === null) return [unparked];
  const clock = isAttached(agent) || isAttaching(agent) ? [] : setStepTimer(world, run);
  return [unparked, event('StepResumed', { pipeline_id: run.id, step: run.step.name }), ...clock];
}

export function findOwnerPipeline({ state }: EngineContext, { owner, id }: AgentRun): PipelineRun | undefined {
  const run = owner === null ? undefined : state.pipelines.get(owner.pipelineId);
  return run?.step?.agentId === id ? run : undefined;
}

export function describeReason(action: string, message: string | null): string {
  return message === null ? `decision: ${action}` : `decision: ${action}: ${message}`;
}
