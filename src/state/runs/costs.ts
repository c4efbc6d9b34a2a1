import { DEFAULT_PRICES, findPrice } from '../../protocol/price.ts';
import { type Rules, rulesInForce } from '../rules.ts';
import type { State } from '../state.ts';
import { accountKey, type AccountKind, accountsOfAgent } from './accounts.ts';
import type { AgentRun } from './agent-run.ts';
import type { BudgetScope } from './budget-scope.ts';
import { type BudgetSources, type BudgetUse, findHighestUse } from './budget.ts';
import type { Runs } from './runs.ts';
import { taskScope } from '../families/task-family.ts';
import { addSpending, NO_SPENDING, type Spending, splitByDay, timeCategory, tokensIn } from './spent.ts';

export interface CostRow {
  /** The account's name; null for spending that belongs to none. */
  readonly name: string | null;
  readonly spent: Spending;
  /** The most used budget among running runs, the task and the day. */
  readonly budget: BudgetUse | null;
}

/** Costs up to now by one kind of account, days in order, others by cost. */
export function listCosts(runs: BudgetSources, by: AccountKind, rules: Rules, at: string): readonly CostRow[] {
  const sums = new Map(accountsOf(runs, by));
  for (const agent of runs.agents.values()) {
    for (const [name, spent] of openInterval(runs, agent, by, at))
      sums.set(name, addSpending(sums.get(name) ?? NO_SPENDING, spent));
  }
  const rows = [...sums].map(([name, spent]): CostRow => {
    return { name: name === '' ? null : name, spent, budget: budgetIn(runs, by, name, rules, at) };
  });
  return rows.toSorted(by === 'day' ? byName : byCost);
}

/** The costs of a task up to now. */
export function costOfTask(runs: Runs, id: string, at: string): Spending {
  let sum = runs.accounts.get(accountKey('task', id)) ?? NO_SPENDING;
  for (const agent of runs.agents.values()) {
    if (agent.task?.task_id !== id || agent.over !== null) continue;
    for (const [, spent] of openInterval(runs, agent, 'task', at)) sum = addSpending(sum, spent);
  }
  return sum;
}

function accountsOf({ accounts }: Runs, kind: AccountKind): [name: string, Spending][] {
  const prefix = accountKey(kind, '');
  return [...accounts].flatMap(([key, spent]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), spent]] : []));
}

/** Models in use whose price is from the default list instead of the runbook. */
export function findModelsPricedByDefault(state: State, rules: Rules): readonly string[] {
  const { prices = [] } = rulesInForce(state, rules);
  return accountsOf(state, 'model')
    .map(([model]) => model)
    .filter((model) => findPrice(prices, model) === undefined && findPrice(DEFAULT_PRICES, model) !== undefined)
    .toSorted();
}

function openInterval(
  runs: Runs,
  agent: AgentRun,
  by: AccountKind,
  at: string,
): readonly (readonly [string, Spending])[] {
  const clock = timeCategory(agent);
  if (clock === 'off') return [];
  const field = clock === 'work' ? 'work_ms' : 'wait_ms';
  const parts = splitByDay(agent.since, at);
  const spent = (ms: number): Spending => ({ ...NO_SPENDING, [field]: ms });
  if (by === 'day') return parts.map(({ day, ms }) => [day, spent(ms)] as const);
  return [[accountsOfAgent(runs, agent)[by], spent(parts.reduce((sum, { ms }) => sum + ms, 0))]];
}

function budgetIn(runs: BudgetSources, by: AccountKind, name: string, rules: Rules, at: string): BudgetUse | null {
  const uses = scopesIn(runs, by, name).flatMap((scope) => findHighestUse(runs, scope, rules, at) ?? []);
  return uses.toSorted((a, b) => b.used / b.limit - a.used / a.limit)[0] ?? null;
}

function scopesIn(runs: BudgetSources, by: AccountKind, name: string): readonly BudgetScope[] {
  const { agents, pipelines } = runs;
  switch (by) {
    case 'task':
      return name === '' ? [] : [taskScope(runs, name)];
    case 'day':
      return [{ kind: by, id: name }];
    case 'agent':
      return [...agents.values()]
        .filter(({ plan, outcome }) => plan.name === name && outcome === null)
        .map(({ id }) => ({ kind: by, id }));
    case 'pipeline':
      return [...pipelines.values()]
        .filter((run) => run.name === name && run.outcome === null)
        .map(({ id }) => ({ kind: by, id }));
    case 'model':
      return [];
  }
}

function byName(a: CostRow, b: CostRow): number {
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}

function byCost(a: CostRow, b: CostRow): number {
  const weight = ({ spent }: CostRow): readonly number[] => [spent.cost_millicents, tokensIn(spent), spent.work_ms];
  const [x, y] = [weight(a), weight(b)];
  const first = x.findIndex((value, i) => value !== y[i]);
  return first < 0 ? byName(a, b) : (y[first] ?? 0) - (x[first] ?? 0);
}
