import { HANDLERS } from '../protocol/run-plan.ts';
import type { Event, EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { TimerPurpose } from '../state/runs/effect.ts';
import { findPipelinePlan, type PipelineRun } from '../state/runs/pipeline-run.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import { onReset } from './agent-events.ts';
import { onStall, retryAfterDelay } from './blocked.ts';
import { endTimeBudget, onBudgetTimer, timeBudgets } from './budgets.ts';
import { stopStep } from './cancel.ts';
import type { EngineContext } from './context.ts';
import { withdrawBudget } from './decisions/answer.ts';
import { endClaimOfRun, onLeaveTimer } from './end-agent.ts';
import { afterGate, handlerPlan, isAtWork, runAction } from './handlers.ts';
import { notifyEnd } from './decisions/notify.ts';
import { enterStep, finishStep } from './steps.ts';

/** On `PipelineFinished`: the parent's step continues, or the claim ends and people are notified. */
export function onPipelineEnd(world: EngineContext, data: EventOf<'PipelineFinished'>['data']): Event[] {
  const { pipeline_id, outcome, reason } = data;
  const run = world.state.pipelines.get(pipeline_id);
  if (run === undefined) return [];
  return [...endBudget(world, run), ...finishParentStep(world, run, outcome, reason)];
}

function endBudget(world: EngineContext, run: PipelineRun): Event[] {
  if (findPipelinePlan(run)?.budget === undefined) return [];
  const scope = { kind: 'pipeline', id: run.id } as const;
  return [...withdrawBudget(world, scope), ...endTimeBudget(world, scope)];
}

function finishParentStep(world: EngineContext, run: PipelineRun, outcome: RunOutcome, reason: string | null): Event[] {
  if (run.parent !== null) {
    const above = world.state.pipelines.get(run.parent.pipelineId);
    if (above?.step?.childId !== run.id) return [];
    return finishStep(world, above, { outcome, reason, output: null });
  }
  // A worker's failed pipeline leaves a blocked task, so people are notified unless the runbook disables that.
  const isNews = findPipelinePlan(run)?.notify ?? (run.task !== null && outcome === 'failed');
  const told = isNews ? notifyEnd(world, 'Pipeline', run.name, outcome, reason) : [];
  return [...told, ...endClaimOfRun(world, run.task, outcome, `pipeline ${run.name}`, reason)];
}

export function onCommand(world: EngineContext, data: EventOf<'CommandFinished'>['data']): Event[] {
  const { subject, exit_code, timed_out, output } = data;
  if (subject.kind === 'gate') {
    const agent = world.state.agents.get(subject.agent_id);
    return agent === undefined ? [] : afterGate(world, agent, subject, data);
  }
  const run = world.state.pipelines.get(subject.pipeline_id);
  if (run?.step?.commandId !== data.command_id) return [];
  if (exit_code === 0 && !timed_out) return finishStep(world, run, { outcome: 'done', reason: null, output });
  const reason = timed_out ? 'timed out' : `exit code ${exit_code ?? 'unknown'}`;
  return finishStep(world, run, { outcome: 'failed', reason, output });
}

/** On `TimerFired`: performs what was scheduled, unless it no longer applies. */
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
      return withdrawBudget(world, { kind: 'day', id: purpose.day }, 'a new day has begun');
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
  const { applies, source } = HANDLERS[handler];
  const isMoot = applies !== 'always' && isGone !== (applies === 'exited');
  if (!isAtWork(agent) || isMoot) return [];
  const plan = handlerPlan(agent.plan, handler, error);
  const message = `Agent is still waiting (${handler})`;
  return runAction(world, agent, { handler, plan, source, message, error });
}

function afterTimeout(world: EngineContext, { pipeline_id, step, visit }: Purpose<'step'>): Event[] {
  const run = world.state.pipelines.get(pipeline_id);
  const isCurrent = run?.step?.name === step && run.step.visit === visit && run.step.status === 'running';
  return run === undefined || !isCurrent ? [] : stopStep(world, run, 'failed', 'timed out');
}
