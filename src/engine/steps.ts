import type { AgentPlan, StepPlan } from '../protocol/run-plan.ts';
import { event, type Event } from '../state/event.ts';
import { hasCapacity } from '../state/runs/capacity.ts';
import { effectKey } from '../state/runs/evolve-effects.ts';
import { findStepPlan, type CurrentStep, type PipelineRun } from '../state/runs/pipeline-run.ts';
import type { State } from '../state/state.ts';
import { finishStep } from './finish-step.ts';
import { mayBeginStep } from './may-begin.ts';
import { setTimer } from './pending.ts';
import type { EngineContext } from './context.ts';

/** On `StepStarted`. */
export function beginStep(world: EngineContext, run: PipelineRun, visit: number): Event[] {
  return run.step?.visit === visit ? runStep(world, run) : [];
}

/** A shell command has its time limit with it; for the others a timer is set, when they start: waiting for room takes none of it. */
export function setStepTimer(world: EngineContext, run: PipelineRun): Event[] {
  const { step } = run;
  const plan = step === null ? undefined : findStepPlan(run, step.name);
  if (step === null || plan?.timeout_ms === undefined || plan.run.kind === 'shell') return [];
  const purpose = { kind: 'step', pipeline_id: run.id, step: step.name, visit: step.visit } as const;
  return [setTimer(world, plan.timeout_ms, purpose)];
}

/** Starts what the step consists of, if it may begin. An agent for which there is no room is started when there is: see `fill-room`. */
export function runStep(world: EngineContext, run: PipelineRun): Event[] {
  const { step } = run;
  const plan = step === null ? undefined : findStepPlan(run, step.name);
  if (step === null || plan === undefined || isStepRunning(step) || !mayBeginStep(world.state, run)) return [];
  if (needsWorkspace(run, plan)) {
    const { branch, base = null } = plan.workspace;
    return [event('WorkspaceRequested', { pipeline_id: run.id, step: step.name, branch, base })];
  }
  switch (plan.run.kind) {
    case 'shell':
      return [requestCommand(world, run, step, plan.run.command, plan.timeout_ms ?? null)];
    case 'agent': {
      const agent = run.plan.agents[plan.run.agent];
      if (agent === undefined) return failStep(world, run, `the plan has no agent ${plan.run.agent}`);
      return hasCapacity(world.state, agent, world.rules) ? requestAgent(world, run, step.name, agent) : [];
    }
    case 'pipeline':
      return startNestedPipeline(world, run, step.name, plan.run.pipeline, plan.run.vars);
  }
}

/** The agent that a step waits to start, until there is room for it. */
export function findQueued(state: State, run: PipelineRun): AgentPlan | undefined {
  const { step } = run;
  if (step === null || step.status !== 'running' || isStepRunning(step)) return undefined;
  const plan = findStepPlan(run, step.name);
  if (plan?.run.kind !== 'agent' || needsWorkspace(run, plan)) return undefined;
  if (state.effects.has(effectKey.workspace(run.id, step.name))) return undefined;
  return mayBeginStep(state, run) ? run.plan.agents[plan.run.agent] : undefined;
}

export function requestAgent(world: EngineContext, run: PipelineRun, step: string, plan: AgentPlan): Event[] {
  const { id: pipeline_id, vars, task, worker } = run;
  const on_stop = plan.on_stop?.action ?? 'signal';
  const owned = { owner: { pipeline_id, step }, vars, task, worker, on_stop };
  return [...setStepTimer(world, run), event('AgentRequested', { agent_id: world.newId(), plan, ...owned })];
}

function requestCommand(
  { newId }: EngineContext,
  { id: pipeline_id }: PipelineRun,
  { name: step, visit }: CurrentStep,
  command: string,
  timeout_ms: number | null,
): Event {
  const subject = { kind: 'step', pipeline_id, step, visit } as const;
  return event('CommandRequested', { command_id: newId(), subject, command, timeout_ms });
}

/** What a nested pipeline is given may hold templates; they are about its parent, and are filled in where they are used. */
function startNestedPipeline(
  world: EngineContext,
  run: PipelineRun,
  step: string,
  name: string,
  given: Readonly<Record<string, string>>,
): Event[] {
  if (depthOf(world.state, run) >= MAX_DEPTH)
    return failStep(world, run, `pipelines are nested more than ${MAX_DEPTH} deep`);
  const declared = run.plan.pipelines[name]?.vars ?? {};
  const presets = Object.entries(declared).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const]));
  const vars = { ...Object.fromEntries(presets), ...given };
  const parent = { pipeline_id: run.id, step };
  const { task, worker } = run;
  const started = { pipeline_id: world.newId(), name, vars, plan: null, parent, task, worker };
  return [...setStepTimer(world, run), event('PipelineStarted', started)];
}

const MAX_DEPTH = 16;

function depthOf(state: State, run: PipelineRun): number {
  let depth = 1;
  for (let at = run; at.parent !== null; depth += 1) {
    const above = state.pipelines.get(at.parent.pipelineId);
    if (above === undefined) break;
    at = above;
  }
  return depth;
}

function failStep(world: EngineContext, run: PipelineRun, reason: string): Event[] {
  return finishStep(world, run, { outcome: 'failed', reason, output: null });
}

function isStepRunning({ agentId, commandId, childId }: CurrentStep): boolean {
  return agentId !== null || commandId !== null || childId !== null;
}

/** Its worktree is made once, however often the step is entered. */
function needsWorkspace(
  { workspace }: PipelineRun,
  plan: StepPlan,
): plan is StepPlan & { readonly workspace: NonNullable<StepPlan['workspace']> } {
  return plan.workspace !== undefined && workspace?.step !== plan.name;
}
