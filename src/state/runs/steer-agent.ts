import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { findAgent } from './find-run.ts';
import type { RunOutcome } from './run-event.ts';
import { findOption } from './resolve-decision.ts';
import { refuseEndedAgent } from './signal-agent.ts';

export interface SendMessage {
  readonly agentId: string;
  readonly messageId: string;
  readonly text: string;
}

/** A word to an agent at work. Where it waits for a person, this is the answer. */
export function decideSendMessage(
  state: State,
  { agentId, messageId, text }: SendMessage,
): Outcome<{ readonly id: string }> {
  const found = findAgent(state, agentId);
  if (!found.ok) return found;
  const agent = found.answer;
  if (agent.outcome !== null) return refuseEndedAgent(agentId, agent.outcome);
  if (text.trim() === '') return refusal('empty-message', 'a message needs a text', 'Say what the agent is to do.');
  const answer = { id: agentId };
  const decision = state.decisions.get(agent.parked ?? '');
  if (decision === undefined)
    return decided([event('MessageRequested', { message_id: messageId, agent_id: agentId, text })], answer);
  const option = findOption(decision, 'nudge', 'resume');
  const action = decision.options[(option ?? 0) - 1]?.action;
  if (option === undefined || action === undefined) {
    const message = `agent ${agentId} waits for decision ${decision.id}, which a message does not answer`;
    return refusal('agent-parked', message, `Choose: baton decision show ${decision.id}`);
  }
  return decided([event('DecisionResolved', { decision_id: decision.id, option, action, message: text })], answer);
}

export interface KillAgent {
  readonly agentId: string;
  readonly reason?: string;
}

export interface KilledAgent {
  readonly id: string;
  /** Where there was nothing left to end: how it had ended. */
  readonly outcome?: RunOutcome;
}

/** Ends the process, and the run with it. One that is over, or about to be, is ended once. */
export function decideKillAgent(state: State, { agentId, reason }: KillAgent): Outcome<KilledAgent> {
  const found = findAgent(state, agentId);
  if (!found.ok) return found;
  const { killed, outcome, process } = found.answer;
  const why = reason ?? 'killed by an operator';
  const isOver = outcome !== null && (killed || process === 'gone');
  if (isOver) return decided([], { id: agentId, outcome });
  return decided([event('AgentKillRequested', { agent_id: agentId, reason: why })], { id: agentId });
}
