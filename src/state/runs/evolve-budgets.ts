import type { RecordedEvent } from '../event.ts';
import type { BudgetRecord, BudgetScope } from './budget-scope.ts';
import { budgetKey } from './budget.ts';
import type { Runs } from './runs.ts';

/** (budgets, entry) → budgets. What is over is forgotten with its run; of days the newest is kept. */
export function evolveBudgets({ agents, pipelines, budgets, decisions }: Runs, { type, data }: RecordedEvent): void {
  const change = (scope: BudgetScope, what: Partial<BudgetRecord>): void => {
    const key = budgetKey(scope);
    if (scope.kind === 'day') forgetDaysBefore(budgets, scope.id);
    budgets.set(key, { ...(budgets.get(key) ?? untouched(scope)), ...what });
  };
  // A budget is judged once more when the last process of its run has gone: it is kept as long as the run.
  const forgetRuns = (): void => {
    for (const [key, { scope }] of budgets) {
      const isKnown = scope.kind === 'agent' ? agents.has(scope.id) : pipelines.has(scope.id);
      if ((scope.kind === 'agent' || scope.kind === 'pipeline') && !isKnown) budgets.delete(key);
    }
  };
  switch (type) {
    case 'BudgetWarned':
      return change(data.scope, { isWarned: true });
    case 'BudgetUnpriced':
      return change(data.scope, { isUnpriced: true });
    case 'BudgetReached':
      return change(data.scope, { decisionId: data.decision_id });
    case 'BudgetRaised':
      return change(data.scope, { raises: data.raises, isWarned: false });
    case 'DecisionResolved': {
      const scope = decisions.get(data.decision_id)?.scope ?? null;
      if (scope?.kind === 'day') change(scope, { isClosed: data.action !== 'approve' });
      return;
    }
    case 'AgentEnded':
    case 'PipelineFinished':
      return forgetRuns();
    default:
  }
}

function untouched(scope: BudgetScope): BudgetRecord {
  return { scope, raises: 0, isWarned: false, isUnpriced: false, decisionId: null, isClosed: false };
}

function forgetDaysBefore(budgets: Runs['budgets'], day: string): void {
  for (const [key, { scope }] of budgets) if (scope.kind === 'day' && scope.id < day) budgets.delete(key);
}
