import { event, type Event, type EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { handlerPlan } from './handler-plan.ts';
import { undeliveredMessages } from './pending.ts';
import { fireHandler, isAtWork } from './handlers.ts';
import { CONTINUE_MESSAGE, resumeAgent, sendOrResume } from './resume.ts';
import type { EngineContext } from './context.ts';

/** On `AgentErrored`: the API does not let it go on. */
export function onError(world: EngineContext, agent: AgentRun, data: EventOf<'AgentErrored'>['data']): Event[] {
  const { error, reset_at: resetAt } = data;
  const plan = handlerPlan(agent.plan, 'on_error', error);
  const message = `Agent stopped on an error: ${error}${data.message === '' ? '' : `: ${data.message}`}`;
  return fireHandler(world, agent, { handler: 'on_error', plan, source: 'error', message, error, resetAt });
}

/** On the `reset` timer: the limit is lifted, and the agent goes on in its conversation. */
export function onReset(world: EngineContext, agent: AgentRun): Event[] {
  if (!isAtWork(agent)) return [];
  const { message = CONTINUE_MESSAGE } = handlerPlan(agent.plan, 'on_error', 'rate_limited');
  return [sendOrResume(world, agent, message)];
}

/** A client that leaves after an error, before it heard that it is to go on, hears it in its next process. */
export function resumeAfterError({ state }: EngineContext, agent: AgentRun): Event[] {
  const unheard = undeliveredMessages(state, agent.id);
  const message = unheard.map(({ text }) => text).join('\n\n') || null;
  const passed = unheard.map(({ messageId: message_id }) => {
    return event('MessageDelivered', { message_id, agent_id: agent.id, ok: false, reason: 'its process has gone' });
  });
  return [...passed, resumeAgent(agent, message, false)];
}
