import { branchName } from '../git/branch-name.ts';
import type { TemplateContext } from '../protocol/render-template.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { TaskRef } from '../state/runs/run-event.ts';
import type { State } from '../state/state.ts';

type Env = TemplateContext['env'];

/** What the texts of a pipeline's step may name. */
export function contextOfStep(state: State, pipeline: PipelineRun, step: string, env: Env): TemplateContext {
  const steps = Object.entries(pipeline.history).map(([name, { output, exitCode }]) => [
    name,
    { output, exit_code: exitCode },
  ]);
  return {
    vars: pipeline.vars,
    task: taskContext(state, pipeline.task),
    step,
    steps: Object.fromEntries(steps),
    ...(env === undefined ? {} : { env }),
  };
}

/** What the texts of an agent, and of its gates, may name. */
export function contextOfAgent(state: State, run: AgentRun, env: Env): TemplateContext {
  const pipeline = run.owner === null ? undefined : state.pipelines.get(run.owner.pipelineId);
  const own = { vars: run.vars, task: taskContext(state, run.task), ...(env === undefined ? {} : { env }) };
  if (pipeline === undefined || run.owner === null) return own;
  return { ...contextOfStep(state, pipeline, run.owner.step, env), ...own, vars: { ...pipeline.vars, ...run.vars } };
}

function taskContext(state: State, ref: TaskRef | null): NonNullable<TemplateContext['task']> | null {
  const task = ref === null ? undefined : state.tasks.get(ref.task_id);
  if (task === undefined) return null;
  const branch = branchName(task);
  return {
    id: task.id,
    n: task.n,
    title: task.title,
    phase: task.phase,
    role: task.claim?.role ?? task.nextRole,
    priority: task.priority,
    branch: branch.ok ? branch.value : null,
    prompt_file: task.promptFile,
    epic_id: task.epicId,
    prd_id: task.prdId,
  };
}
