import type { Event, EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { EffectSubject } from '../state/runs/effect.ts';
import { endAgent } from './end-agent.ts';
import { handlerPlan } from './handler-plan.ts';
import { isAtWork, nextAttempt } from './handlers.ts';
import type { EngineContext } from './context.ts';

type GateCommand = Extract<EffectSubject, { kind: 'gate' }>;

/** On the end of a gate: exit code 0 is done; anything else is another attempt, and in the end a person is asked. */
export function afterGate(
  world: EngineContext,
  agent: AgentRun,
  { handler, error }: GateCommand,
  { exit_code, timed_out, output }: EventOf<'CommandFinished'>['data'],
): Event[] {
  if (!isAtWork(agent)) return [];
  if (exit_code === 0) return endAgent(world, agent, 'done', `${handler}: gate passed`);
  const plan = handlerPlan(agent.plan, handler, error);
  const how = timed_out ? 'timed out' : `exit code ${exit_code ?? 'unknown'}`;
  const message = `Gate failed: ${plan.run ?? ''} (${how})`;
  return nextAttempt(world, agent, {
    handler,
    plan,
    source: 'gate',
    message,
    details: output,
    error,
  });
}
