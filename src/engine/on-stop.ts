import type { Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { escalate } from './escalate.ts';
import type { EngineContext } from './context.ts';

/** On `AgentStop`: it tried to end its turn where only a person may let it. */
export function onStop(world: EngineContext, agent: AgentRun): Event[] {
  const message = agent.plan.on_stop?.message ?? 'Agent tried to stop without signaling completion';
  return escalate(world, agent, { source: 'stop', reason: 'on_stop: escalate', message });
}
