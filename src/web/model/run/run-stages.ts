import type { AgentRun } from '../../../state/runs/agent-run.ts';
import { timeCategory } from '../../../state/runs/spent.ts';
import { findPipelinePlan, type PipelineRun } from '../../../state/runs/pipeline-run.ts';
import type { State } from '../../../state/state.ts';
import type { Task } from '../../../state/tasks/task.ts';
import { listStages, listVisits } from '../../../state/timeline/visits.ts';
import { findChecksDeclined } from '../../../state/workflow/decline-checks.ts';
import { type StripStage, stripStage } from '../strip.ts';

/** A task's stages, including those to come, with their times up to the start of the current activity. */
export function taskStages(state: State, task: Task): readonly StripStage[] {
  const timeline = state.timelines.get(task.id) ?? { spans: [] };
  const since = timeline.spans.at(-1)?.from ?? '';
  const stages = listStages(listVisits(timeline, since), {
    isWorkflow: task.flow.mode !== null,
    hasChecks: hasChecks(state, task),
  });
  return stages.map((stage) => stripStage(stage, since));
}

/** The state does not contain the runbook's rules: checks are expected unless an operator declined them. */
function hasChecks(state: State, { flow }: Task): boolean {
  return flow.checks !== null || findChecksDeclined(state) === undefined;
}

/** A pipeline's steps in the runbook's order. A nested pipeline is one step. */
export function pipelineStages({ pipelines }: State, run: PipelineRun): readonly StripStage[] {
  const steps = findPipelinePlan(run)?.steps ?? [];
  return steps.map(({ name }): StripStage => {
    const record = run.history[name];
    const visits = record?.visits ?? 0;
    if (run.step?.name === name) {
      const child = pipelines.get(run.step.childId ?? '');
      const isWaiting = run.step.status === 'waiting' || child?.step?.status === 'waiting';
      const activity = isWaiting ? 'waiting' : 'running';
      return { name, status: 'now', visits, activity, outcome: null, since: run.step.since };
    }
    const outcome = record?.outcome ?? null;
    const status = outcome === null ? 'ahead' : outcome === 'done' ? 'done' : 'failed';
    return { name, status, visits, activity: null, outcome };
  });
}

/** A lone agent is one stage, with its working and waiting time. */
export function agentStages(run: AgentRun): readonly StripStage[] {
  const { plan, outcome, start, workMs, waitMs, since } = run;
  const clock = timeCategory(run);
  const activity = outcome !== null ? null : clock === 'wait' ? 'waiting' : clock === 'work' ? 'running' : 'queued';
  const status = outcome === null ? 'now' : outcome === 'done' ? 'done' : 'failed';
  const times = { running_ms: workMs, waiting_ms: waitMs };
  return [{ name: plan.name, status, visits: start, activity, outcome, ...times, ...(activity && { since }) }];
}
