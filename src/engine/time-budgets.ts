import type { Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import { agentsIn, budgetKey, budgetOf, openWorkMs, scopesOf, spendingIn, WARN_AT } from '../state/runs/budget.ts';
import { timeCategory, dayOf } from '../state/runs/spent.ts';
import { cancelPending, addMs, setTimer } from './pending.ts';
import { watchBudget } from './budgets.ts';
import type { EngineContext } from './context.ts';

/** On an agent that begins to work: nothing else will tell when its time is used. */
export function timeBudgets(world: EngineContext, agent: AgentRun): Event[] {
  return scopesOf(world.state, agent, world.at).flatMap((scope) => timeBudget(world, scope));
}

/** On the `budget` timer. Where others have stopped working meanwhile, there is time left. */
export function onBudgetTimer(world: EngineContext, scope: BudgetScope): Event[] {
  const today = dayOf(world.at);
  // A day that is over is of no interest; those who have worked through the night use the next.
  if (scope.kind === 'day' && scope.id !== today) return timeBudget(world, { kind: 'day', id: today });
  const followed = watchBudget(world, scope);
  // Who is warned now is looked at again when it is used up.
  return [
    ...followed,
    ...timeBudget(
      world,
      scope,
      followed.some(({ type }) => type === 'BudgetWarned'),
    ),
  ];
}

/** On the end of a run: nobody looks at its time any more. */
export function endTimeBudget(world: EngineContext, scope: BudgetScope): Event[] {
  return cancelPending(timersFor(world, scope));
}

function timeBudget(world: EngineContext, scope: BudgetScope, isWarnedNow = false): Event[] {
  const { state, rules, at } = world;
  const base = budgetOf(state, scope, rules)?.time_ms;
  if (base === undefined) return [];
  const record = state.budgets.get(budgetKey(scope));
  const working = agentsIn(state, scope).filter((agent) => timeCategory(agent) === 'work').length;
  if (working === 0) return [];
  const limit = base * (1 + (record?.raises ?? 0));
  const used = spendingIn(state, scope).work_ms + openWorkMs(state, scope, at);
  const next = isWarnedNow || record?.isWarned === true || used >= limit * WARN_AT ? limit : Math.ceil(limit * WARN_AT);
  // Used up, it waits for a decision, which sets everybody going again.
  if (used >= limit) return [];
  // They use it together, so much faster.
  const ms = Math.ceil((next - used) / working);
  const [set, ...others] = timersFor(world, scope);
  const isSoonEnough = set !== undefined && set.due <= addMs(at, ms);
  const moot = set === undefined || isSoonEnough ? others : [set, ...others];
  return [...cancelPending(moot), ...(isSoonEnough ? [] : [setTimer(world, ms, { kind: 'budget', scope })])];
}

function timersFor({ state }: EngineContext, { kind, id }: BudgetScope) {
  return [...state.effects.values()]
    .filter((effect) => effect.kind === 'wait')
    .filter(({ purpose }) => purpose.kind === 'budget' && purpose.scope.kind === kind && purpose.scope.id === id);
}
