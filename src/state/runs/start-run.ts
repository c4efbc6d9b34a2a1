import type { AgentPlan, PipelinePlan, Plan, WorkerPlan } from '../../protocol/run-plan.ts';
import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { hasCapacity } from './capacity.ts';

export type PipelineRunPlan = Extract<Plan, { kind: 'pipeline' }>;

export interface StartPipeline {
  /** A new id. */
  readonly id: string;
  /** As people call the run; usually that of its pipeline. */
  readonly name: string;
  readonly plan: PipelineRunPlan;
  readonly vars: Readonly<Record<string, string>>;
}

export interface StartAgent {
  readonly id: string;
  readonly plan: AgentPlan;
  readonly vars: Readonly<Record<string, string>>;
}

export type StartedRun = Outcome<{ readonly id: string }>;

export function decideStartPipeline(state: State, { id, name, plan, vars }: StartPipeline): StartedRun {
  if (state.pipelines.has(id)) return refuseExistingRun(id);
  const root = plan.pipelines[plan.pipeline];
  if (root === undefined)
    return refusal('no-such-pipeline', `the plan has no pipeline ${plan.pipeline}`, 'Check it: baton runbook check');
  const filled = fillVars(root, vars);
  if (!filled.ok) return filled;
  const started = { pipeline_id: id, name, vars: filled.answer, plan, parent: null, task: null, worker: null };
  return decided([event('PipelineStarted', started)], { id });
}

/** A run of its own: in no pipeline and under no claim. Where it tries to stop without a word, a person is asked. */
export function decideStartAgent(state: State, { id, plan, vars }: StartAgent, rules: Rules): StartedRun {
  if (state.agents.has(id)) return refuseExistingRun(id);
  if (!hasCapacity(state, plan, rules)) {
    const message = `as many agents run as may: ${plan.name} cannot be started now`;
    return refusal(
      'no-room',
      message,
      'Wait for one to end (baton agent list), or raise max_concurrency or the limit.',
    );
  }
  const on_stop = plan.on_stop?.action ?? 'escalate';
  const wanted = { agent_id: id, plan, owner: null, vars, task: null, worker: null, on_stop };
  return decided([event('AgentRequested', wanted)], { id });
}

/** A single shell command is a pipeline of one step: it is run, shown and cancelled like any other. Its arguments are its variables. */
export function pipelineOfShell(name: string, command: string, variables: readonly string[] = []): PipelineRunPlan {
  const vars = Object.fromEntries(variables.map((variable) => [variable, null]));
  const only: PipelinePlan = { name, vars, steps: [{ name: 'run', run: { kind: 'shell', command } }] };
  return { kind: 'pipeline', pipeline: name, pipelines: { [name]: only }, agents: {} };
}

/** What was given, and the defaults for the rest. */
export function fillVars(
  { name, vars: declared }: PipelinePlan,
  given: Readonly<Record<string, string>>,
): Outcome<Readonly<Record<string, string>>> {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(declared, key));
  if (unknown !== undefined) {
    const known = Object.keys(declared).join(', ') || 'none';
    return refusal('unknown-variable', `pipeline ${name} has no variable ${unknown}`, `It has: ${known}.`);
  }
  const filled: Record<string, string> = {};
  for (const [key, preset] of Object.entries(declared)) {
    const value = (Object.hasOwn(given, key) ? given[key] : undefined) ?? preset;
    if (value === null) {
      const message = `pipeline ${name} needs a value for ${key}`;
      return refusal('missing-variable', message, `Give one: ${key}=VALUE`);
    }
    filled[key] = value;
  }
  return decided([], filled);
}

export interface ConfigureWorkers {
  readonly workers: readonly WorkerPlan[];
}

/** The workers of the runbook, as it is read at the start and whenever it changes. */
export function decideConfigureWorkers(state: State, { workers }: ConfigureWorkers): Outcome<null> {
  const same = JSON.stringify([...state.workers.values()]) === JSON.stringify(workers);
  return decided(same ? [] : [event('WorkersConfigured', { workers })], null);
}

function refuseExistingRun(id: string): ReturnType<typeof refusal> {
  return refusal('run-exists', `there is a run ${id} already`, 'Begin with a new id.');
}
