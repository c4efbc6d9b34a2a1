import type { Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { handlerPlan } from './handler-plan.ts';
import { findWaitingHandler, pendingActions } from './pending.ts';
import { fireHandler } from './handlers.ts';
import type { EngineContext } from './context.ts';

/**
 * On `AgentIdle`: it waits for input, or it tried to stop and `on_stop` says `idle`. One that waits because a handler is busy with it,
 * until an API lets it go on or until a gate has judged its prompt, is not idle.
 */
export function onIdle(world: EngineContext, agent: AgentRun): Event[] {
  if (pendingActions(world.state, agent.id).some((each) => findWaitingHandler(each) !== undefined)) return [];
  const plan = handlerPlan(agent.plan, 'on_idle', null);
  const message = 'Agent is idle and has not signaled completion';
  return fireHandler(world, agent, { handler: 'on_idle', plan, source: 'idle', message });
}
