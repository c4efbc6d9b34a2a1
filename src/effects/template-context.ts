import { branchName } from '../git/worktree/create.ts';
import { slugOf } from '../protocol/branch-name.ts';
import { renderTemplate, type TemplateContext } from '../protocol/text/render-template.ts';
import { buildPacket } from '../state/packet/packet.ts';
import { renderPacket } from '../state/packet/render-packet.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { findStepPlan, type PipelineRun } from '../state/runs/pipeline-run.ts';
import type { TaskRef } from '../state/runs/run-event.ts';
import type { State } from '../state/state.ts';

/** `env` is undefined if environment variables must not be expanded. */
export interface TemplateSurroundings {
  readonly env: TemplateContext['env'];
  readonly sessions: { readonly workspace: { readonly branch: string } };
}

export function stepContext(
  state: State,
  pipeline: PipelineRun,
  step: string,
  around: TemplateSurroundings,
): TemplateContext {
  const { env } = around;
  const steps = Object.entries(pipeline.history).map(([name, { output, exitCode }]) => [
    name,
    { output, exit_code: exitCode },
  ]);
  return {
    vars: varsOf(state, pipeline, around),
    task: taskContext(state, pipeline.task, around),
    step,
    steps: Object.fromEntries(steps),
    ...(env === undefined ? {} : { env }),
  };
}

export function agentContext(state: State, run: AgentRun, around: TemplateSurroundings): TemplateContext {
  const { env } = around;
  const pipeline = run.owner === null ? undefined : state.pipelines.get(run.owner.pipelineId);
  if (pipeline !== undefined && run.owner !== null) return stepContext(state, pipeline, run.owner.step, around);
  return { vars: run.vars, task: taskContext(state, run.task, around), ...(env === undefined ? {} : { env }) };
}

/** Variables that a step passes to a nested pipeline are templates, which refer to the step's own pipeline. */
function varsOf(
  state: State,
  { vars, parent }: PipelineRun,
  around: TemplateSurroundings,
): Readonly<Record<string, string>> {
  const outer = parent === null ? undefined : state.pipelines.get(parent.pipelineId);
  if (parent === null || outer === undefined) return vars;
  const run = findStepPlan(outer, parent.step)?.run;
  if (run?.kind !== 'pipeline') return vars;
  const context = stepContext(state, outer, parent.step, around);
  const given = Object.entries(run.vars).map(([name, text]) => {
    const rendered = renderTemplate(text, context, { quote: 'none' });
    return [name, rendered.ok ? rendered.value : text];
  });
  return { ...vars, ...Object.fromEntries(given) };
}

/** A prompt has only the most urgent part of the packet; the task file has more. */
const PROMPT_TOKENS = 1200;

function taskContext(
  state: State,
  ref: TaskRef | null,
  around: TemplateSurroundings,
): NonNullable<TemplateContext['task']> | null {
  const task = ref === null ? undefined : state.tasks.get(ref.task_id);
  if (task === undefined) return null;
  // `sessions` reads the runbook's files, so it is used only for a run with a task.
  const named = branchName(task, around.sessions.workspace.branch);
  return {
    id: task.id,
    n: task.n,
    title: task.title,
    phase: task.phase,
    role: task.claim?.role ?? task.nextRole,
    priority: task.priority,
    slug: slugOf(task.title),
    branch: task.flow.branch ?? (named.ok ? named.value : null),
    prompt_file: task.promptFile,
    epic_id: task.epicId,
    prd_id: task.prdId,
    // Lazy, because few templates use it and it costs more than everything else together.
    get context() {
      return renderPacket(buildPacket(state, task), { tokens: PROMPT_TOKENS }).text;
    },
  };
}
