import type { Event } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import { budgetKey, isSpent, findHighestUse } from '../state/runs/budget.ts';
import { dayOf } from '../state/runs/spent.ts';
import type { Task } from '../state/tasks/task.ts';
import { openBudgetDecision } from './reach-budget.ts';
import type { EngineContext } from './context.ts';

/** What workers may take: nothing on a day whose budget is used up, and no task whose own is. People are asked about each once. */
export function budgetGate(world: EngineContext) {
  const { state, rules, at } = world;
  const day: BudgetScope = { kind: 'day', id: dayOf(at) };
  const dayUse = findHighestUse(state, day, rules, at);
  const spentTasks = new Set<string>();
  return {
    isDaySpent: isSpent(dayUse),
    mayTake: (task: Task): boolean => {
      const { id } = task;
      if (
        rulesFor(task, rules).budgets?.task === undefined ||
        !isSpent(findHighestUse(state, { kind: 'task', id }, rules, at))
      )
        return true;
      spentTasks.add(id);
      return false;
    },
    askForDay: (): Event[] => {
      const isClosed = state.budgets.get(budgetKey(day))?.isClosed === true;
      return isClosed || dayUse === undefined ? [] : openBudgetDecision(world, day, dayUse).asked;
    },
    askForTasks: (): Event[] =>
      [...spentTasks].flatMap((id) => {
        const scope: BudgetScope = { kind: 'task', id };
        const use = findHighestUse(state, scope, rules, at);
        return use === undefined ? [] : openBudgetDecision(world, scope, use).asked;
      }),
  };
}
