import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { World } from './world.ts';

/** A message in the agent's own conversation: to its process where there is one, else to a new one that takes it up again. */
export function tell(world: World, agent: AgentRun, text: string): Event {
  if (agent.process === 'gone') return resumeAgent(agent, text, false);
  return event('MessageRequested', { message_id: world.newId(), agent_id: agent.id, text });
}

export function resumeAgent({ id: agent_id, start }: AgentRun, message: string | null, append: boolean): Event {
  return event('AgentResumeRequested', { agent_id, start: start + 1, message, append });
}
