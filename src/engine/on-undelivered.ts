import type { Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { escalate } from './escalate.ts';
import type { EngineContext } from './context.ts';

/** On a message that did not reach a running agent: it would wait for it for ever. One whose process has gone is dealt with by its exit. */
export function onUndelivered(world: EngineContext, agent: AgentRun, reason: string | null): Event[] {
  if (agent.process !== 'running') return [];
  const message = `A message could not be delivered${reason === null ? '' : `: ${reason}`}`;
  return escalate(world, agent, { source: 'idle', reason: 'message not delivered', message });
}
