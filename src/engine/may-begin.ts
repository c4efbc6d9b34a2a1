import { pipelinesAround } from '../state/runs/accounts.ts';
import type { Decision } from '../state/runs/decision.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { State } from '../state/state.ts';

/**
 * Whether the current step of a pipeline may begin. It may not while the process of an earlier step's agent is still there: both would
 * work in the same folder. It may not either while a person is asked about a run inside the pipeline that overspent its budget.
 */
export function mayBegin(state: State, { id }: PipelineRun): boolean {
  const isAround = (pipelineId: string | undefined): boolean =>
    pipelineId !== undefined &&
    pipelinesAround(state, { owner: { pipelineId, step: '' } }).some((run) => run.id === id);
  for (const { outcome, process, owner } of state.agents.values())
    if (outcome !== null && process !== 'gone' && isAround(owner?.pipelineId)) return false;
  for (const decision of state.decisions.values())
    if (isAboutOverspent(state, decision) && isAround(decision.pipelineId ?? undefined)) return false;
  return true;
}

/** A question about the budget of a run that is done already. */
export function isAboutOverspent({ agents, pipelines }: State, { source, result, scope }: Decision): boolean {
  if (source !== 'budget' || result !== null || scope === null) return false;
  if (scope.kind === 'agent') return agents.get(scope.id)?.outcome === 'done';
  return scope.kind === 'pipeline' && pipelines.get(scope.id)?.outcome === 'done';
}
