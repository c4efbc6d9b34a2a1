import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { Decision, DecisionAction } from './decision.ts';
import { findPipeline } from './find-run.ts';
import type { PipelineRun, PipelineStatus } from './pipeline-run.ts';
import { findOverspentDecision } from './open-decisions.ts';
import { pipelineStatus } from './pipeline-run.ts';
import { findOption } from './resolve-decision.ts';

/** A pipeline waits for a person if a pipeline inside it does, or if a run inside it overspent its budget and a person is asked about that. */
export function overallPipelineStatus(state: State, run: PipelineRun): PipelineStatus {
  const child = run.outcome === null ? state.pipelines.get(run.step?.childId ?? '') : undefined;
  if (child !== undefined && child.outcome === null) return overallPipelineStatus(state, child);
  const status = pipelineStatus(run);
  return status === 'running' && findOverspentDecision(state, run.id) !== undefined ? 'waiting' : status;
}

/** The question that a pipeline, or one inside it, waits to have answered. */
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

/** It ends as soon as its steps have; cancelled a second time, it does not wait for its clean-up either. */
export function decideCancelPipeline(state: State, { id, reason }: CancelPipeline): Outcome<{ readonly id: string }> {
  const found = findPipeline(state, id);
  if (!found.ok) return found;
  const { outcome } = found.answer;
  if (outcome === 'cancelled') return decided([], { id });
  if (outcome !== null) return refuseEndedPipeline(found.answer);
  const why = reason ?? 'cancelled by an operator';
  return decided([event('PipelineCancelRequested', { pipeline_id: id, reason: why })], { id });
}

export interface RetryPipeline {
  readonly id: string;
  /** For the case that the whole is run again. */
  readonly newId: string;
}

/** A step that waits is started anew; a pipeline that failed is run again from its first step, as a run of its own. */
export function decideRetryPipeline(state: State, { id, newId }: RetryPipeline): Outcome<{ readonly id: string }> {
  const found = findPipeline(state, id);
  if (!found.ok) return found;
  const run = found.answer;
  if (run.outcome === null) return answerFor(state, run, null, 'retry');
  if (run.outcome === 'done' || run.parent !== null) return refuseEndedPipeline(run);
  const { name, vars, plan } = run;
  const again = { pipeline_id: newId, name, vars, plan, parent: null, task: null, worker: null };
  return decided([event('PipelineStarted', again)], { id: newId });
}

export interface ResumePipeline {
  readonly id: string;
  readonly message?: string;
}

/** The agent that a pipeline waits with goes on in its own conversation. */
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
      `See it: baton pipeline show ${run.id}`,
    );
  const option = findOption(decision, ...actions);
  const action = decision.options[(option ?? 0) - 1]?.action;
  if (option === undefined || action === undefined)
    return refusal(
      'no-such-option',
      `decision ${decision.id} offers no ${actions[0]}`,
      `See it: baton decision show ${decision.id}`,
    );
  return decided([event('DecisionResolved', { decision_id: decision.id, option, action, message })], { id: run.id });
}

function refuseEndedPipeline({ id, outcome }: PipelineRun): ReturnType<typeof refusal> {
  return refusal('pipeline-ended', `pipeline ${id} is over: ${outcome ?? ''}`, 'Start another: baton run NAME');
}
