import { event, type Event, type EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { handlerPlanOf } from './handler-plan.ts';
import { messagesTo } from './pending.ts';
import { fireHandler, isAtWork } from './run-handler.ts';
import { GO_ON, resumeAgent, tell } from './tell.ts';
import type { World } from './world.ts';

/** On `AgentErrored`: the API does not let it go on. */
export function onError(world: World, agent: AgentRun, data: EventOf<'AgentErrored'>['data']): Event[] {
  const { error, reset_at: resetAt } = data;
  const plan = handlerPlanOf(agent.plan, 'on_error', error);
  const message = `Agent stopped on an error: ${error}${data.message === '' ? '' : `: ${data.message}`}`;
  return fireHandler(world, agent, { handler: 'on_error', plan, source: 'error', message, error, resetAt });
}

/** On the `reset` timer: the limit is lifted, and the agent goes on in its conversation. */
export function onReset(world: World, agent: AgentRun): Event[] {
  if (!isAtWork(agent)) return [];
  const { message = GO_ON } = handlerPlanOf(agent.plan, 'on_error', 'rate_limited');
  return [tell(world, agent, message)];
}

/** A client that leaves after an error, before it heard that it is to go on, hears it in its next process. */
export function recover({ state }: World, agent: AgentRun): Event[] {
  const unheard = messagesTo(state, agent.id);
  const message = unheard.map(({ text }) => text).join('\n\n') || null;
  const passed = unheard.map(({ messageId: message_id }) => {
    return event('MessageDelivered', { message_id, agent_id: agent.id, ok: false, reason: 'its process has gone' });
  });
  return [...passed, resumeAgent(agent, message, false)];
}
