import { event, type Event } from '../state/event.ts';
import { findTimers } from '../state/runs/effect.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/tasks/task.ts';
import { cancelChecks } from '../state/workflow/checks.ts';
import { cancelPending, type EngineContext, timersOf } from './context.ts';
import { dropProposals } from './decisions/proposals.ts';
import { endAgent } from './end-agent.ts';
import { finishStep } from './steps.ts';

/**
 * When a task is cancelled, by a command or by a decision, everything that belongs to it ends in the same commit: its
 * runs are cancelled, its open decisions withdrawn, its checks stopped, its hold and retries dropped. Its worktree and
 * branch are removed if they contain no work.
 */
export function onCancelled(world: EngineContext, task: Task): Event[] {
  const { state } = world;
  const reason = task.blocked?.reason ?? 'cancelled';
  const ended = endRuns(world, task.id, reason);
  // The end of a run withdraws the decision about that run.
  const asked = openDecisions(state, task.id).filter((id) => !ended.some((each) => isWithdrawal(each, id)));
  const timers = findTimers(state, (purpose) => purpose.kind === 'unblock' && purpose.task_id === task.id);
  return [
    ...ended,
    ...asked.map((id) => event('DecisionWithdrawn', { decision_id: id, reason: `the task was ${reason}` })),
    ...dropProposals(state, task.id, `the task was ${reason}`),
    ...(task.flow.held === null ? [] : [event('TaskFreed', { task_id: task.id })]),
    ...cancelPending(timers),
    ...cancelChecks(task),
    ...clearPlace(task),
  ];
}

/** Requests the removal of the task's worktree and branch, which stay if they hold work. */
function clearPlace({ id: task_id, flow: { branch } }: Task): Event[] {
  return branch === null ? [] : [event('PlaceClearRequested', { task_id, branch })];
}

/**
 * On a completed task: its worktree is removed if Baton made it for a session. The closing role does that in a
 * workflow, and a person who works in a worktree may still be in it.
 */
export function clearCompleted(task: Task): Event[] {
  return task.flow.mode === null && task.flow.place !== null ? clearPlace(task) : [];
}

function endRuns(world: EngineContext, taskId: string, reason: string): Event[] {
  const { pipelines, agents } = world.state;
  const roots = [...pipelines.values()].filter((run) => run.task?.task_id === taskId && run.parent === null);
  const alone = [...agents.values()].filter((agent) => agent.task?.task_id === taskId && agent.owner === null);
  return [
    ...roots.flatMap((run) => stopPipeline(world, run, 'cancelled', reason)),
    ...alone.flatMap((agent) => endAgent(world, agent, 'cancelled', reason)),
  ];
}

function isWithdrawal({ type, data }: Event, id: string): boolean {
  return type === 'DecisionWithdrawn' && data.decision_id === id;
}

function openDecisions({ decisions }: State, taskId: string): readonly string[] {
  return [...decisions.values()]
    .filter(({ taskId: about, result }) => about === taskId && result === null)
    .map(({ id }) => id);
}

/** Ends the current step before its command, agent or pipeline has ended. */
export function stopStep(world: EngineContext, run: PipelineRun, outcome: RunOutcome, reason: string): Event[] {
  const agent = world.state.agents.get(run.step?.agentId ?? '');
  // The end of the agent's run ends the step.
  if (agent?.outcome === null) return endAgent(world, agent, outcome, reason);
  return [...stopRunner(world, run, reason), ...finishStep(world, run, { outcome, reason, output: null })];
}

/** Ends a pipeline at once, with everything inside it and without clean-up, because nothing waits for its result. */
export function stopPipeline(world: EngineContext, run: PipelineRun, outcome: RunOutcome, reason: string): Event[] {
  if (run.outcome !== null) return [];
  const { id: pipeline_id, step } = run;
  const agent = world.state.agents.get(step?.agentId ?? '');
  const ended = agent === undefined ? [] : endAgent(world, agent, outcome, reason);
  const finished =
    step === null ? [] : [event('StepFinished', { pipeline_id, step: step.name, outcome, reason, output: null })];
  return [
    ...ended,
    ...stopRunner(world, run, reason),
    ...cancelPending(timersOf(world.state, run.id)),
    ...finished,
    event('PipelineFinished', { pipeline_id, outcome, reason }),
  ];
}

/** On `PipelineCancelRequested`: cancels the innermost step first, so that each pipeline can run its own clean-up. */
export function cancelPipeline(world: EngineContext, run: PipelineRun, reason: string): Event[] {
  if (run.outcome !== null) return [];
  const child = world.state.pipelines.get(run.step?.childId ?? '');
  if (child?.outcome === null) return [event('PipelineCancelRequested', { pipeline_id: child.id, reason })];
  if (run.step === null) return stopPipeline(world, run, 'cancelled', reason);
  return stopStep(world, run, 'cancelled', reason);
}

function stopRunner(world: EngineContext, { step }: PipelineRun, reason: string): Event[] {
  const { effects, pipelines } = world.state;
  const command_id = step?.commandId ?? '';
  const child = pipelines.get(step?.childId ?? '');
  const stopped = effects.has(`command:${command_id}`) ? [event('CommandCancelled', { command_id })] : [];
  return child === undefined ? stopped : [...stopped, ...stopPipeline(world, child, 'cancelled', reason)];
}
