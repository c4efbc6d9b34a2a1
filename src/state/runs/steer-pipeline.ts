import { renderCanonical } from '../../ledger/format/canonical-json.ts';
import type { AgentPlan, PipelinePlan, Plan, WorkerPlan } from '../../protocol/run-plan.ts';
import { event } from '../event.ts';
import { findHost, hostOf } from '../fleet/fleet.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { hasCapacity } from './budget.ts';
import type { Decision, DecisionAction } from './decision.ts';
import { findPipeline } from './find-run.ts';
import { findOverspentDecision } from './open-decisions.ts';
import { refuseAnswered } from './pending-answer.ts';
import { type PipelineRun, type PipelineStatus, pipelineStatus } from './pipeline-run.ts';
import { findOption } from './resolve-decision.ts';

export type PipelineRunPlan = Extract<Plan, { kind: 'pipeline' }>;

export interface StartPipeline {
  readonly id: string;
  /** The name for people; usually the pipeline's name. */
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
    return refusal(
      'no-such-pipeline',
      `the plan has no pipeline ${plan.pipeline}`,
      'Check the runbook: baton runbook check',
    );
  const filled = fillVars(root, vars);
  if (!filled.ok) return filled;
  const started = { pipeline_id: id, name, vars: filled.answer, plan, parent: null, task: null, worker: null };
  return decided([event('PipelineStarted', started)], { id });
}

/** Starts a run outside of pipelines and claims. If it stops without a signal, a person is asked. */
export function decideStartAgent(
  state: State,
  { id, plan, vars }: StartAgent,
  rules: Rules,
  here: string | undefined,
): StartedRun {
  if (state.agents.has(id)) return refuseExistingRun(id);
  if (!hasCapacity(state, plan, rules, [], here)) {
    const where = here === undefined ? '' : ` on ${here}`;
    const message = `the limit of running agents is reached: ${plan.name} cannot be started now${where}`;
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

/** Converts a shell command to a pipeline of one step, with its arguments as variables. */
export function pipelineOfShell(name: string, command: string, variables: readonly string[] = []): PipelineRunPlan {
  const vars = Object.fromEntries(variables.map((variable) => [variable, null]));
  const only: PipelinePlan = { name, vars, steps: [{ name: 'run', run: { kind: 'shell', command } }] };
  return { kind: 'pipeline', pipeline: name, pipelines: { [name]: only }, agents: {} };
}

function fillVars(
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

/** Configures the workers. Called at the start and whenever the runbook changes. */
export function decideConfigureWorkers(state: State, { workers }: ConfigureWorkers): Outcome<null> {
  // Compares canonical text, because a plan read from the ledger has another order of keys than one built from the
  // runbook.
  const known = renderCanonical([...state.workers.values()], 1, false);
  const same = known === renderCanonical(workers, 1, false);
  return decided(same ? [] : [event('WorkersConfigured', { workers })], null);
}

function refuseExistingRun(id: string): ReturnType<typeof refusal> {
  return refusal('run-exists', `there is a run ${id} already`, 'Begin with a new id.');
}

/**
 * The status of a pipeline; it also waits if a nested pipeline does, or if a decision about an overspent run in it is
 * open.
 */
export function overallPipelineStatus(state: State, run: PipelineRun): PipelineStatus {
  const child = run.outcome === null ? state.pipelines.get(run.step?.childId ?? '') : undefined;
  if (child !== undefined && child.outcome === null) return overallPipelineStatus(state, child);
  const status = pipelineStatus(run);
  return status === 'running' && findOverspentDecision(state, run.id) !== undefined ? 'waiting' : status;
}

/** The decision that a pipeline, or one nested in it, waits for. */
export function findPipelineDecision(state: State, { id, step, outcome }: PipelineRun): Decision | undefined {
  const child = state.pipelines.get(step?.childId ?? '');
  if (child !== undefined && child.outcome === null) return findPipelineDecision(state, child);
  const decision = state.decisions.get(step?.decisionId ?? '');
  if (decision?.result === null) return decision;
  return outcome === null ? findOverspentDecision(state, id) : undefined;
}

export interface CancelPipeline {
  readonly id: string;
  readonly reason?: string;
}

/** Cancels a pipeline. A second cancellation does not wait for the clean-up steps. */
export function decideCancelPipeline(state: State, { id, reason }: CancelPipeline): Outcome<{ readonly id: string }> {
  const found = findPipeline(state, id);
  if (!found.ok) return found;
  const { outcome } = found.answer;
  if (outcome === 'cancelled') return decided([], { id });
  if (outcome !== null) return refuseEndedPipeline(found.answer);
  const why = reason ?? 'cancelled by an operator';
  return decided([event('PipelineCancelRequested', { pipeline_id: id, reason: why })], { id });
}

interface RetryPipeline {
  readonly id: string;
  /** The id of the new run, if the whole pipeline runs again. */
  readonly newId: string;
}

/** Retries a pipeline: restarts a waiting step, or runs a failed pipeline again from its first step, as a new run. */
export function decideRetryPipeline(state: State, { id, newId }: RetryPipeline): Outcome<{ readonly id: string }> {
  const found = findPipeline(state, id);
  if (!found.ok) return found;
  const run = found.answer;
  if (run.outcome === null) return answerFor(state, run, null, 'retry');
  if (run.outcome === 'done' || run.parent !== null) return refuseEndedPipeline(run);
  const { name, vars, plan } = run;
  const host = hostOf(run, state);
  // The host has the pipeline's workspace, unless it was removed.
  const there = host === undefined || findHost(state, host) === undefined ? {} : { host };
  const again = { pipeline_id: newId, name, vars, plan, parent: null, task: null, worker: null, ...there };
  return decided([event('PipelineStarted', again)], { id: newId });
}

export interface ResumePipeline {
  readonly id: string;
  readonly message?: string;
}

export function decideResumePipeline(state: State, { id, message }: ResumePipeline): Outcome<{ readonly id: string }> {
  const found = findPipeline(state, id);
  if (!found.ok) return found;
  if (found.answer.outcome !== null) return refuseEndedPipeline(found.answer);
  return answerFor(state, found.answer, message ?? null, 'nudge', 'resume', 'approve');
}

function answerFor(
  state: State,
  run: PipelineRun,
  message: string | null,
  ...actions: readonly DecisionAction[]
): Outcome<{ readonly id: string }> {
  const decision = findPipelineDecision(state, run);
  if (decision === undefined)
    return refusal(
      'not-waiting',
      `pipeline ${run.id} does not wait for a person`,
      `See the pipeline: baton pipeline show ${run.id}`,
    );
  if (decision.answer !== undefined) return refuseAnswered(decision, decision.answer);
  const option = findOption(decision, ...actions);
  const action = decision.options[(option ?? 0) - 1]?.action;
  if (option === undefined || action === undefined)
    return refusal(
      'no-such-option',
      `decision ${decision.id} offers no ${actions[0]}`,
      `See the decision: baton decision show ${decision.id}`,
    );
  return decided([event('DecisionResolved', { decision_id: decision.id, option, action, message })], { id: run.id });
}

function refuseEndedPipeline({ id, outcome }: PipelineRun): ReturnType<typeof refusal> {
  return refusal('pipeline-ended', `pipeline ${id} is over: ${outcome ?? ''}`, 'Start another: baton run NAME');
}

/** Acknowledges a failed run: it needs nobody any more. */
export function decideAcknowledgeRun(
  { pipelines, agents }: State,
  { id }: { readonly id: string },
): Outcome<{ readonly id: string }> {
  const run = pipelines.get(id) ?? agents.get(id);
  if (run === undefined) return refusal('no-such-run', `there is no run ${id}`, 'See what needs you: baton status');
  if (run.outcome !== 'failed')
    return refusal('run-not-failed', `the run ${id} has not failed`, 'Only a failed run is acknowledged.');
  return decided(run.acknowledged === true ? [] : [event('RunAcknowledged', { run_id: id })], { id });
}
