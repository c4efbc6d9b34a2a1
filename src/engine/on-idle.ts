import type { Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { handlerPlanOf } from './handler-plan.ts';
import { fireHandler } from './run-handler.ts';
import type { World } from './world.ts';

/** On `AgentIdle`: it waits for input, or it tried to stop and `on_stop` says `idle`. */
export function onIdle(world: World, agent: AgentRun): Event[] {
  const plan = handlerPlanOf(agent.plan, 'on_idle', null);
  const message = 'Agent is idle and has not signaled completion';
  return fireHandler(world, agent, { handler: 'on_idle', plan, source: 'idle', message });
}
