import type { BudgetPlan } from '../../protocol/run-plan.ts';
import { rulesFor, type Rules } from '../rules.ts';
import type { Task } from '../tasks/task.ts';
import { accountKey, pipelinesAround } from './accounts.ts';
import type { AgentRun } from './agent-run.ts';
import { MEASURES, type BudgetScope, type Measure } from './budget-scope.ts';
import { findPipelinePlan } from './pipeline-run.ts';
import type { Runs } from './runs.ts';
import { timeCategory, dayOf, NO_SPENDING, agentSpending, tokensIn, type Spending } from './spent.ts';

/** How far a budget is used, by the measure that is furthest. */
export interface BudgetUse {
  readonly measure: Measure;
  readonly used: number;
  readonly limit: number;
  /** What requests that are under way may use: each as much as the largest of its run. */
  readonly reserved: number;
  /** What the runbook says, before it was raised. */
  readonly base: number;
}

/** From here on people are told that it runs out. */
export const WARN_AT = 0.8;

export function budgetKey({ kind, id }: BudgetScope): string {
  return `${kind}:${id}`;
}

/** The budgets that an agent draws on. */
export function scopesOf(runs: Runs, agent: AgentRun, at: string): readonly BudgetScope[] {
  return [
    { kind: 'agent', id: agent.id },
    ...pipelinesAround(runs, agent).map(({ id }) => ({ kind: 'pipeline', id }) as const),
    ...(agent.task === null ? [] : [{ kind: 'task', id: agent.task.task_id } as const]),
    { kind: 'day', id: dayOf(at) },
  ];
}

/** A workflow keeps the budget that it was started with, so that the tasks are looked at too, if they are at hand. */
type BudgetSources = Runs & { readonly tasks?: ReadonlyMap<string, Task> };

/** The budget that the runbook sets; undefined if it sets none. */
export function budgetOf(runs: BudgetSources, { kind, id }: BudgetScope, rules: Rules): BudgetPlan | undefined {
  switch (kind) {
    case 'agent':
      return runs.agents.get(id)?.plan.budget;
    case 'pipeline': {
      const run = runs.pipelines.get(id);
      return run === undefined ? undefined : findPipelinePlan(run)?.budget;
    }
    case 'task': {
      const task = runs.tasks?.get(id);
      return (task === undefined ? rules : rulesFor(task, rules)).budgets?.task;
    }
    case 'day':
      return rules.budgets?.day;
  }
}

/** The measure with the largest share used. Undefined if nothing is limited. */
export function findHighestUse(
  runs: BudgetSources,
  scope: BudgetScope,
  rules: Rules,
  at: string,
): BudgetUse | undefined {
  const share = ({ used, reserved, limit }: BudgetUse): number => (used + reserved) / limit;
  return listBudgetUses(runs, scope, rules, at).toSorted((a, b) => share(b) - share(a))[0];
}

/** By each measure that the budget limits. */
export function listBudgetUses(
  runs: BudgetSources,
  scope: BudgetScope,
  rules: Rules,
  at: string,
): readonly BudgetUse[] {
  const budget = budgetOf(runs, scope, rules);
  if (budget === undefined) return [];
  const { raises = 0 } = runs.budgets.get(budgetKey(scope)) ?? {};
  const spent = spendingIn(runs, scope);
  return MEASURES.flatMap((measure): BudgetUse[] => {
    const base = budget[FIELDS[measure]];
    if (base === undefined) return [];
    const used = USED[measure](spent) + (measure === 'time' ? openWorkMs(runs, scope, at) : 0);
    return [{ measure, used, reserved: reservedIn(runs, scope, measure), base, limit: base * (1 + raises) }];
  });
}

/** It is used up, or will be when the requests that are under way have ended. */
export function isSpent(use: BudgetUse | undefined): boolean {
  return use !== undefined && use.used + use.reserved >= use.limit;
}

/** Only a running process has requests under way: the last report of one that crashed may name some. */
function reservedIn(runs: Runs, scope: BudgetScope, measure: Measure): number {
  if (measure === 'time') return 0;
  const field = measure === 'tokens' ? 'reserved_tokens' : 'reserved_millicents';
  const working = agentsIn(runs, scope).filter(({ outcome, process }) => outcome === null && process === 'running');
  return working.reduce((sum, { usage }) => sum + (usage?.[field] ?? 0), 0);
}

/** Without the intervals that are not over yet. */
export function spendingIn({ agents, pipelines, accounts }: Runs, { kind, id }: BudgetScope): Spending {
  if (kind === 'pipeline') return pipelines.get(id)?.spent ?? NO_SPENDING;
  if (kind === 'task' || kind === 'day') return accounts.get(accountKey(kind, id)) ?? NO_SPENDING;
  const agent = agents.get(id);
  return agent === undefined ? NO_SPENDING : agentSpending(agent);
}

const FIELDS = { tokens: 'tokens', cost: 'cost_millicents', time: 'time_ms' } as const;

const USED: Readonly<Record<Measure, (spent: Spending) => number>> = {
  tokens: tokensIn,
  cost: ({ cost_millicents }) => cost_millicents,
  time: ({ work_ms }) => work_ms,
};

/** Those who draw on it. */
export function agentsIn(runs: Runs, { kind, id }: BudgetScope): readonly AgentRun[] {
  if (kind === 'agent') return [runs.agents.get(id)].filter((agent) => agent !== undefined);
  const all = [...runs.agents.values()].filter(({ over }) => over === null);
  if (kind === 'day') return all;
  if (kind === 'task') return all.filter(({ task }) => task?.task_id === id);
  return all.filter((agent) => pipelinesAround(runs, agent).some((run) => run.id === id));
}

/** What those who are at work have added since it was last counted. */
export function openWorkMs(runs: Runs, scope: BudgetScope, at: string): number {
  const begin = scope.kind === 'day' ? Date.parse(`${scope.id}T00:00:00.000Z`) : 0;
  const working = agentsIn(runs, scope).filter((agent) => timeCategory(agent) === 'work');
  const times = working.map(({ since }) => Math.max(0, Date.parse(at) - Math.max(begin, Date.parse(since))));
  return times.reduce((sum, ms) => sum + ms, 0);
}
