import type { Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { handlerPlan } from './handler-plan.ts';
import { fireHandler } from './handlers.ts';
import type { EngineContext } from './context.ts';

/** On `AgentPrompted`: it asks for a permission, or a question. */
export function onPrompt(world: EngineContext, agent: AgentRun, prompt: string): Event[] {
  const plan = handlerPlan(agent.plan, 'on_prompt', null);
  const message = `Agent asks: ${prompt}`;
  return fireHandler(world, agent, { handler: 'on_prompt', plan, source: 'prompt', message });
}
