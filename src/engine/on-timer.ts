import type { Event, EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { TimerPurpose } from '../state/runs/effect.ts';
import { enterStep } from './enter-step.ts';
import { handlerPlan } from './handler-plan.ts';
import { onLeaveTimer } from './leave.ts';
import { onReset } from './on-error.ts';
import { onNewDay } from './resolve-budget.ts';
import { runAction, isAtWork } from './handlers.ts';
import { retryAfterDelay } from './retry-error.ts';
import { onStall } from './stall.ts';
import { stopStep } from './stop-step.ts';
import { onBudgetTimer, timeBudgets } from './time-budgets.ts';
import type { EngineContext } from './context.ts';

/** On `TimerFired`: what was put off is done, unless it has become pointless meanwhile. */
export function onTimer(world: EngineContext, { purpose }: EventOf<'TimerFired'>['data']): Event[] {
  const { state } = world;
  switch (purpose.kind) {
    case 'handler': {
      const agent = state.agents.get(purpose.agent_id);
      return agent === undefined ? [] : afterCooldown(world, agent, purpose);
    }
    case 'reset': {
      const agent = state.agents.get(purpose.agent_id);
      return agent === undefined ? [] : [...onReset(world, agent), ...timeBudgets(world, agent)];
    }
    case 'leave':
      return onLeaveTimer(world, purpose.agent_id);
    case 'stall':
      return onStall(world, state.tasks.get(purpose.task_id), purpose.phase, purpose.since);
    case 'unblock':
      return retryAfterDelay(world, state.tasks.get(purpose.task_id), purpose.since);
    case 'budget':
      return onBudgetTimer(world, purpose.scope);
    case 'day':
      return onNewDay(world, purpose.day);
    case 'step':
      return afterTimeout(world, purpose);
    case 'retry': {
      const run = state.pipelines.get(purpose.pipeline_id);
      return run === undefined || run.outcome !== null || run.step !== null ? [] : enterStep(run, purpose.step, true);
    }
  }
}

type Purpose<K extends TimerPurpose['kind']> = Extract<TimerPurpose, { kind: K }>;

function afterCooldown(world: EngineContext, agent: AgentRun, { handler, error }: Purpose<'handler'>): Event[] {
  const isGone = agent.process === 'gone';
  // The dead are expected to be gone; whoever else is gone is a matter for `on_dead`, or for what gets over an error.
  const isMoot = handler === 'on_dead' ? !isGone : isGone && handler !== 'on_error';
  if (!isAtWork(agent) || isMoot) return [];
  const plan = handlerPlan(agent.plan, handler, error);
  const message = `Agent is still waiting (${handler})`;
  return runAction(world, agent, { handler, plan, source: SOURCES[handler], message, error });
}

const SOURCES = { on_stop: 'stop', on_idle: 'idle', on_dead: 'dead', on_error: 'error', on_prompt: 'prompt' } as const;

function afterTimeout(world: EngineContext, { pipeline_id, step, visit }: Purpose<'step'>): Event[] {
  const run = world.state.pipelines.get(pipeline_id);
  const isCurrent = run?.step?.name === step && run.step.visit === visit && run.step.status === 'running';
  return run === undefined || !isCurrent ? [] : stopStep(world, run, 'failed', 'timed out');
}
