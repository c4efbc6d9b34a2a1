import { pipelinesAround } from './accounts.ts';
import type { AgentRun } from './agent-run.ts';
import type { BudgetScope } from './budget-scope.ts';
import type { Decision } from './decision.ts';
import type { Runs } from './runs.ts';

/** The open question whether a run inside this pipeline that overspent its budget is kept. What follows in the pipeline waits for it. */
export function findOverspentDecision(runs: Runs, pipelineId: string): Decision | undefined {
  for (const decision of runs.decisions.values())
    if (isAboutOverspent(runs, decision) && isWithinPipeline(runs, decision.pipelineId, pipelineId)) return decision;
  return undefined;
}

/** A question about the budget of a run that is done already. */
export function isAboutOverspent(runs: Runs, { source, result, scope }: Decision): boolean {
  return source === 'budget' && result === null && isOfDoneRun(runs, scope);
}

/** Whether a budget is that of a run that is done. */
export function isOfDoneRun({ agents, pipelines }: Runs, scope: BudgetScope | null): boolean {
  if (scope?.kind === 'agent') return agents.get(scope.id)?.outcome === 'done';
  return scope?.kind === 'pipeline' && pipelines.get(scope.id)?.outcome === 'done';
}

/** Whether a pipeline is this one or runs inside it, however deep. */
export function isWithinPipeline(runs: Runs, inner: string | null, outer: string): boolean {
  return (
    inner !== null && pipelinesAround(runs, { owner: { pipelineId: inner, step: '' } }).some(({ id }) => id === outer)
  );
}

/** The open decision about an agent's silence. It is withdrawn as soon as the agent is heard, so it must not stand in for any other question. */
export function findSilenceDecision({ decisions }: Pick<Runs, 'decisions'>, agent: AgentRun): Decision | undefined {
  const asked = decisions.get(agent.parked ?? '');
  return asked?.untilHeard === true && asked.result === null && agent.outcome === null ? asked : undefined;
}
