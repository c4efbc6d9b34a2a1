import type { AgentPlan, StepPlan } from '../protocol/run-plan.ts';
import { event, type Event } from '../state/event.ts';
import { hostOf } from '../state/fleet/fleet.ts';
import { hasCapacity } from '../state/runs/budget.ts';
import { effectKey } from '../state/runs/effect.ts';
import { excerptEnd, excerptStart } from '../state/runs/excerpt.ts';
import { findOverspentDecision, isWithinPipeline } from '../state/runs/open-decisions.ts';
import { type CurrentStep, findPipelinePlan, findStepPlan, type PipelineRun } from '../state/runs/pipeline-run.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import type { State } from '../state/state.ts';
import { cancelPending, type EngineContext, setTimer, timersOf } from './context.ts';
import { notifyEnd } from './decisions/notify.ts';

export function beginStep(world: EngineContext, run: PipelineRun, visit: number): Event[] {
  return run.step?.visit === visit ? runStep(world, run) : [];
}

/** Sets a step's timer when the step starts, so that waiting for room does not count. Shell commands have their own. */
export function setStepTimer(world: EngineContext, run: PipelineRun): Event[] {
  const { step } = run;
  const plan = step === null ? undefined : findStepPlan(run, step.name);
  if (step === null || plan?.timeout_ms === undefined || plan.run.kind === 'shell') return [];
  const purpose = { kind: 'step', pipeline_id: run.id, step: step.name, visit: step.visit } as const;
  return [setTimer(world, plan.timeout_ms, purpose)];
}

/** Starts the work of a step if it may start. An agent without room is started later; see `fill-room`. */
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
      const hasRoom = hasCapacity(world.state, agent, world.rules, [], hostOf(run, world.state));
      return hasRoom ? requestAgent(world, run, step.name, agent) : [];
    }
    case 'pipeline':
      return startNestedPipeline(world, run, step.name, plan.run.pipeline, plan.run.vars);
  }
}

/** The agent of a step that waits for room. */
export function findQueued(state: State, run: PipelineRun): AgentPlan | undefined {
  const { step } = run;
  if (step === null || step.status !== 'running' || isStepRunning(step)) return undefined;
  const plan = findStepPlan(run, step.name);
  if (plan?.run.kind !== 'agent' || needsWorkspace(run, plan)) return undefined;
  if (state.effects.has(effectKey.workspace(run.id, step.name))) return undefined;
  return mayBeginStep(state, run) ? run.plan.agents[plan.run.agent] : undefined;
}

export function requestAgent(world: EngineContext, run: PipelineRun, step: string, plan: AgentPlan): Event[] {
  const { id: pipeline_id, vars, task, worker, note } = run;
  const on_stop = plan.on_stop?.action ?? 'signal';
  const said = note === undefined ? {} : { note };
  const owned = { owner: { pipeline_id, step }, vars, task, worker, on_stop, ...said };
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

/** Variables of a nested pipeline may contain templates. They refer to the parent, and are expanded on use. */
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

/** Whether the step needs a worktree that does not exist yet. A step that is entered again keeps its worktree. */
function needsWorkspace(
  { workspace }: PipelineRun,
  plan: StepPlan,
): plan is StepPlan & { readonly workspace: NonNullable<StepPlan['workspace']> } {
  return plan.workspace !== undefined && workspace?.step !== plan.name;
}

/**
 * Whether the current step of a pipeline may start. It waits while the process of an earlier step's agent is alive,
 * because both would work in the same folder, and while a decision is open about a run of the pipeline that exceeded
 * its budget.
 */
function mayBeginStep(state: State, { id }: PipelineRun): boolean {
  for (const { outcome, process, owner } of state.agents.values())
    if (outcome !== null && process !== 'gone' && isWithinPipeline(state, owner?.pipelineId ?? null, id)) return false;
  return findOverspentDecision(state, id) === undefined;
}

/**
 * A step may lead back to an earlier one. A pipeline that enters the same step this often makes no progress and fails.
 */
export const MAX_STEP_VISITS = 100;

export function enterStep(run: PipelineRun, step: string, retry: boolean): Event[] {
  const visit = (run.history[step]?.visits ?? 0) + 1;
  if (findStepPlan(run, step) === undefined) return [failPipeline(run, `the plan has no step ${step}`)];
  if (visit > MAX_STEP_VISITS) return [failPipeline(run, `step ${step} was entered ${MAX_STEP_VISITS} times`)];
  return [event('StepStarted', { pipeline_id: run.id, step, visit, retry })];
}

export function enterPipeline(run: PipelineRun): Event[] {
  const plan = findPipelinePlan(run);
  if (plan === undefined) return [failPipeline(run, `the plan has no pipeline ${run.name}`)];
  const first = plan.steps[0];
  if (first !== undefined) return enterStep(run, first.name, false);
  return [event('PipelineFinished', { pipeline_id: run.id, outcome: 'done', reason: null })];
}

function failPipeline({ id }: PipelineRun, reason: string): Event {
  return event('PipelineFinished', { pipeline_id: id, outcome: 'failed', reason });
}

interface StepResult {
  readonly outcome: RunOutcome;
  readonly reason: string | null;
  readonly output: string | null;
}

export function finishStep(world: EngineContext, run: PipelineRun, { outcome, reason, output }: StepResult): Event[] {
  const { step } = run;
  if (step === null || run.outcome !== null) return [];
  const why = reason === null ? null : excerptStart(reason);
  const finished = event('StepFinished', {
    pipeline_id: run.id,
    step: step.name,
    outcome,
    reason: why,
    output: output === null ? null : excerptEnd(output),
  });
  const plan = findStepPlan(run, step.name);
  const told = plan?.notify === true ? notifyEnd(world, 'Step', `${run.name}/${step.name}`, outcome, why) : [];
  return [
    ...cancelPending(timersOf(world.state, run.id)),
    finished,
    ...told,
    ...nextStep(world, run, step, plan, outcome, why),
  ];
}

function nextStep(
  world: EngineContext,
  run: PipelineRun,
  step: CurrentStep,
  plan: StepPlan | undefined,
  outcome: RunOutcome,
  reason: string | null,
): Event[] {
  if (outcome === 'done') {
    const next = plan?.on_done ?? stepAfter(run, step.name);
    return next === undefined ? [finishPipeline(run, 'done', null)] : enterStep(run, next, false);
  }
  if (outcome === 'failed') return afterFailure(world, run, step, plan, reason);
  const next = plan?.on_cancel;
  // A cancelled clean-up has no clean-up of its own.
  if (next === undefined || next === step.name || isCancelled(run)) return [finishPipeline(run, 'cancelled', reason)];
  return enterStep(run, next, false);
}

function afterFailure(
  world: EngineContext,
  run: PipelineRun,
  { name, visit }: CurrentStep,
  plan: StepPlan | undefined,
  reason: string | null,
): Event[] {
  const { step: next, retries = 0, cooldown_ms: ms = 0 } = plan?.on_fail ?? {};
  if ((run.history[name]?.retries ?? 0) < retries) {
    if (ms === 0) return enterStep(run, name, true);
    return [setTimer(world, ms, { kind: 'retry', pipeline_id: run.id, step: name, visit: visit + 1 })];
  }
  if (next !== undefined) return enterStep(run, next, false);
  return [finishPipeline(run, 'failed', `step ${name} failed${reason === null ? '' : `: ${reason}`}`)];
}

/**
 * After a cancelled step, the following steps are clean-up, and the pipeline ends as cancelled whatever their outcome.
 */
function finishPipeline(run: PipelineRun, outcome: RunOutcome, reason: string | null): Event {
  const wasCancelled = outcome === 'cancelled' || isCancelled(run);
  const why = wasCancelled ? (run.cancelling ?? reason) : reason;
  return event('PipelineFinished', {
    pipeline_id: run.id,
    outcome: wasCancelled ? 'cancelled' : outcome,
    reason: why === null ? null : excerptStart(why),
  });
}

function isCancelled({ history }: PipelineRun): boolean {
  return Object.values(history).some(({ outcome }) => outcome === 'cancelled');
}

function stepAfter(run: PipelineRun, name: string): string | undefined {
  const steps = findPipelinePlan(run)?.steps ?? [];
  return steps[steps.findIndex((step) => step.name === name) + 1]?.name;
}
