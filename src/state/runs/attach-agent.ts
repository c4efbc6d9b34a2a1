import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { isAttached, isAttaching } from './agent-run.ts';
import { findAgent } from './find-run.ts';
import { refuseEndedAgent } from './signal-agent.ts';

export interface AttachAgent {
  readonly agentId: string;
  /** Who, and in front of which terminal: for the next one who asks. */
  readonly by: string;
}

/** A person asks for the conversation of an agent. One at a time has it: the process with the number `start` is theirs. */
export function decideAttachAgent(
  state: State,
  { agentId, by }: AttachAgent,
): Outcome<{ readonly id: string; readonly start: number }> {
  const found = findAgent(state, agentId);
  if (!found.ok) return found;
  const agent = found.answer;
  if (agent.outcome !== null) return refuseEndedAgent(agentId, agent.outcome);
  if (agent.attach !== null && (isAttached(agent) || isAttaching(agent))) {
    const message = `agent ${agentId} is attached already: ${agent.attach.by}, since ${agent.attach.at}`;
    return refusal('agent-attached', message, `Look on with: baton agent logs -f ${agentId}`);
  }
  const start = agent.start + 1;
  return decided([event('AgentAttachRequested', { agent_id: agentId, start, by })], { id: agentId, start });
}
