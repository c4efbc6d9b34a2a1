import type { IssuePlan, PlannedEffect, RunPreview } from '../../api/operations/runs.ts';
import { renderDollars } from '../../protocol/price.ts';
import type { AgentPlan, BudgetPlan, PipelinePlan, StepPlan, StepRun } from '../../protocol/run-plan.ts';
import { fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { describeChecks } from '../../runbook/runbook.ts';
import { printable } from '../text.ts';

export function renderPlan({ plan, vars, sandboxes, effects, entries }: Omit<RunPreview, 'name'>): string {
  const summaries = new Map(sandboxes.map(({ agent, summary }) => [agent, summary]));
  const lines = [
    ...renderPlanned(plan, summaries),
    ...new Set(sandboxes.flatMap(({ notes }) => notes.map((note) => `sandbox: ${note}`))),
    ...Object.entries(vars).map(([name, value]) => `with ${name} = ${value}`),
    ...effects.map((effect) => `first: ${describeEffect(effect, entries)}`),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** The sandbox of each agent, as text. */
type Summaries = ReadonlyMap<string, string>;

function renderPlanned(plan: RunPreview['plan'], summaries: Summaries): string[] {
  switch (plan.kind) {
    case 'agent':
      return [`agent ${describeAgent(plan.agent, summaries)}`];
    case 'shell':
      return [`shell ${plan.command}`];
    case 'workflow':
      return renderWorkflow(plan, summaries);
    case 'pipeline':
      return renderPlannedPipeline(plan.pipeline, { ...plan, summaries }, '', []);
  }
}

function renderWorkflow(plan: IssuePlan, summaries: Summaries): string[] {
  const { mode, roles, checks, checks_answer, merge, workers, pull_requests: where, lacks_gh } = plan;
  const players = roles.map(({ role, agent, run }) => `  ${role}: agent ${agent} (${whatRuns(run, agent, summaries)})`);
  const required = checks.map(({ name, run }) => `  check ${name}: ${run ?? 'reported by GitHub'}`);
  const pulls =
    where === ''
      ? ', by pull requests, but no remote is at GitHub and no [github] repository is named'
      : `, by pull requests at ${where}${lacks_gh ? ', but gh is not on the PATH' : ''}`;
  return [
    `workflow issue (${mode})`,
    ...players,
    ...required,
    ...(required.length === 0 ? [`  ${describeChecks(checks_answer)}`] : []),
    `  merge: ${merge.method} into ${merge.into ?? 'the main branch'}${where === null ? '' : pulls}`,
    ...workers.map((worker) => `  also started by worker ${worker.name} (${worker.mode}): ${worker.takes}`),
  ];
}

interface Known {
  readonly pipelines: Readonly<Record<string, PipelinePlan>>;
  readonly agents: Readonly<Record<string, AgentPlan>>;
  readonly summaries: Summaries;
}

function renderPlannedPipeline(name: string, known: Known, indent: string, above: readonly string[]): string[] {
  const { steps = [], budget } = known.pipelines[name] ?? {};
  return [
    `${indent}pipeline ${name}${describeBudget(budget)}`,
    ...steps.flatMap((step) => {
      const line = `${indent}  ${step.name}: ${describeRun(step.run, known)}${describeTurns(step)}`;
      // Unlike a validated runbook, a plan may have cycles.
      if (step.run.kind !== 'pipeline' || above.includes(step.run.pipeline)) return [line];
      const nested = step.run.pipeline;
      return [line, ...renderPlannedPipeline(nested, known, `${indent}    `, [...above, nested])];
    }),
  ];
}

function describeRun(run: StepRun, { agents, summaries }: Known): string {
  if (run.kind === 'shell') return `shell ${run.command}`;
  if (run.kind === 'pipeline') return `pipeline ${run.pipeline}`;
  const agent = agents[run.agent];
  return `agent ${agent === undefined ? run.agent : describeAgent(agent, summaries)}`;
}

function describeAgent({ name, run, budget }: AgentPlan, summaries: Summaries): string {
  return `${name} (${whatRuns(run, name, summaries)})${describeBudget(budget)}`;
}

/** A pipeline that plays a role has no sandbox of its own. */
function whatRuns(run: string, agent: string, summaries: Summaries): string {
  const summary = summaries.get(agent);
  return summary === undefined ? run : `${run}; ${summary}`;
}

function describeBudget({ tokens, cost_millicents: cost, time_ms: time }: BudgetPlan = {}): string {
  const parts = [
    tokens === undefined ? '' : `${tokens} tokens`,
    cost === undefined ? '' : renderDollars(cost),
    time === undefined ? '' : `${time / 1000} s`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `, budget ${parts.join(', ')}`;
}

function describeTurns({ on_done, on_fail, on_cancel, timeout_ms, workspace }: StepPlan): string {
  const turns = [
    on_done === undefined ? '' : `then ${on_done}`,
    on_fail?.retries === undefined ? '' : `${on_fail.retries} retries`,
    on_fail?.step === undefined ? '' : `if it fails ${on_fail.step}`,
    on_cancel === undefined ? '' : `if it is cancelled ${on_cancel}`,
    timeout_ms === undefined ? '' : `at most ${timeout_ms / 1000} s`,
    workspace === undefined ? '' : `in a worktree on ${workspace.branch}`,
  ].filter((turn) => turn !== '');
  return turns.length === 0 ? '' : `  [${turns.join(', ')}]`;
}

function describeEffect(effect: PlannedEffect, entries: RunPreview['entries']): string {
  switch (effect.kind) {
    case 'start-agent':
      return `start agent ${nameOf(effect.agentId, entries)}`;
    case 'run-command':
      return `run ${effect.command}`;
    case 'prepare-workspace':
      return `create a worktree on ${effect.branch}`;
    case 'wait':
      return `wait until ${effect.due}`;
    case 'notify':
      return `notify a person: ${effect.title}`;
    default:
      return effect.kind;
  }
}

function nameOf(agentId: string | undefined, entries: RunPreview['entries']): string {
  const requested = entries.map(({ data }) => fieldsOf(data)).find(({ agent_id }) => agent_id === agentId);
  return textOf(fieldsOf(requested?.['plan'])['name']);
}
