import { findOverspentDecision, isWithinPipeline } from '../state/runs/open-decisions.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { State } from '../state/state.ts';

/**
 * Whether the current step of a pipeline may begin. It may not while the process of an earlier step's agent is still there: both would
 * work in the same folder. It may not either while a person is asked about a run inside the pipeline that overspent its budget.
 */
export function mayBeginStep(state: State, { id }: PipelineRun): boolean {
  for (const { outcome, process, owner } of state.agents.values())
    if (outcome !== null && process !== 'gone' && isWithinPipeline(state, owner?.pipelineId ?? null, id)) return false;
  return findOverspentDecision(state, id) === undefined;
}
