import { pipelinesAround } from './accounts.ts';
import type { AgentRun } from './agent-run.ts';
import type { BudgetScope } from './budget-scope.ts';
import type { Decision } from './decision.ts';
import type { Runs } from './runs.ts';

/** Returns the open decision whether an overspent run in this pipeline is kept. The next steps wait for it. */
export function findOverspentDecision(runs: Runs, pipelineId: string): Decision | undefined {
  for (const decision of runs.decisions.values())
    if (isAboutOverspent(runs, decision) && isWithinPipeline(runs, decision.pipelineId, pipelineId)) return decision;
  return undefined;
}

/** Reports whether the decision is about the budget of an ended run. */
export function isAboutOverspent(runs: Runs, { source, result, scope }: Decision): boolean {
  return source === 'budget' && result === null && isOfDoneRun(runs, scope);
}

export function isOfDoneRun({ agents, pipelines }: Runs, scope: BudgetScope | null): boolean {
  if (scope?.kind === 'agent') return agents.get(scope.id)?.outcome === 'done';
  return scope?.kind === 'pipeline' && pipelines.get(scope.id)?.outcome === 'done';
}

/** Reports whether a pipeline is inside another, at any depth. */
export function isWithinPipeline(runs: Runs, inner: string | null, outer: string): boolean {
  return (
    inner !== null && pipelinesAround(runs, { owner: { pipelineId: inner, step: '' } }).some(({ id }) => id === outer)
  );
}

/**
 * Returns the open decision about an agent's silence. The decision is withdrawn when the agent prints again, so it
 * never represents another question.
 */
export function findSilenceDecision({ decisions }: Pick<Runs, 'decisions'>, agent: AgentRun): Decision | undefined {
  const asked = decisions.get(agent.parked ?? '');
  return asked?.untilHeard === true && asked.result === null && agent.outcome === null ? asked : undefined;
}

/** Reports whether the decision only informs: nothing waits for it, and it stands for no question. */
export function isNotice({ options }: Pick<Decision, 'options'>): boolean {
  return options.every(({ action }) => action === 'dismiss');
}

/**
 * Reports whether the decision is an open question about the work on its task. Notices, budgets and findings of
 * reconciliation are separate matters, and none of them stands for such a question.
 */
export function asksAboutWork(decision: Pick<Decision, 'result' | 'source' | 'options'>): boolean {
  const { result, source } = decision;
  return result === null && source !== 'budget' && source !== 'reconcile' && !isNotice(decision);
}

/** Reports whether the decision is open and unanswered. */
export function needsPerson({ result, answer }: Decision): boolean {
  return result === null && answer === undefined;
}
