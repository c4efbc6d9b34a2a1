import type { AgentPlan, BudgetPlan } from '../../protocol/run-plan.ts';
import type { RecordedEvent } from '../event.ts';
import { type FleetState, hostOf } from '../fleet/fleet.ts';
import { type Rules, rulesFor } from '../rules.ts';
import type { Task } from '../tasks/task.ts';
import { familyOf, taskScope } from '../families/task-family.ts';
import { accountKey, pipelinesAround } from './accounts.ts';
import type { AgentRun } from './agent-run.ts';
import { type BudgetRecord, type BudgetScope, type Measure, MEASURES } from './budget-scope.ts';
import { findPipelinePlan } from './pipeline-run.ts';
import type { Runs } from './runs.ts';
import { addSpending, agentSpending, dayOf, NO_SPENDING, type Spending, timeCategory, tokensIn } from './spent.ts';

export interface BudgetUse {
  readonly measure: Measure;
  readonly used: number;
  readonly limit: number;
  /** An estimate for requests in progress: each counts as much as the largest of its run. */
  readonly reserved: number;
  readonly base: number;
}

/** The share of a budget at which people are notified. */
export const WARN_AT = 0.8;

export function budgetKey({ kind, id }: BudgetScope): string {
  return `${kind}:${id}`;
}

export function scopesOf(runs: BudgetSources, agent: AgentRun, at: string): readonly BudgetScope[] {
  return [
    { kind: 'agent', id: agent.id },
    ...pipelinesAround(runs, agent).map(({ id }) => ({ kind: 'pipeline', id }) as const),
    ...(agent.task === null ? [] : [taskScope(runs, agent.task.task_id)]),
    { kind: 'day', id: dayOf(at) },
  ];
}

/** Includes tasks, because a workflow keeps the budget that it was started with. */
export type BudgetSources = Runs & { readonly tasks?: ReadonlyMap<string, Task> };

/** Returns undefined if the runbook sets no budget. */
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

/** Returns the measure with the largest used share; undefined if there is no limit. */
export function findHighestUse(
  runs: BudgetSources,
  scope: BudgetScope,
  rules: Rules,
  at: string,
): BudgetUse | undefined {
  const share = ({ used, reserved, limit }: BudgetUse): number => (used + reserved) / limit;
  return listBudgetUses(runs, scope, rules, at).toSorted((a, b) => share(b) - share(a))[0];
}

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

/** Reports whether the budget is used up, or will be when the requests in progress have ended. */
export function isSpent(use: BudgetUse | undefined): boolean {
  return use !== undefined && use.used + use.reserved >= use.limit;
}

/**
 * Counts requests in progress of running processes only, because the last report of a crashed process may still name
 * some.
 */
function reservedIn(runs: Runs, scope: BudgetScope, measure: Measure): number {
  if (measure === 'time') return 0;
  const field = measure === 'tokens' ? 'reserved_tokens' : 'reserved_millicents';
  const working = agentsIn(runs, scope).filter(({ outcome, process }) => outcome === null && process === 'running');
  return working.reduce((sum, { usage }) => sum + (usage?.[field] ?? 0), 0);
}

/** Spending without current intervals. */
export function spendingIn(runs: Runs, { kind, id }: BudgetScope): Spending {
  const { agents, pipelines, accounts } = runs;
  if (kind === 'pipeline') return pipelines.get(id)?.spent ?? NO_SPENDING;
  if (kind === 'day') return accounts.get(accountKey(kind, id)) ?? NO_SPENDING;
  if (kind === 'task')
    return familyOf(runs, id).reduce(
      (sum, each) => addSpending(sum, accounts.get(accountKey(kind, each)) ?? NO_SPENDING),
      NO_SPENDING,
    );
  const agent = agents.get(id);
  return agent === undefined ? NO_SPENDING : agentSpending(agent);
}

const FIELDS = { tokens: 'tokens', cost: 'cost_millicents', time: 'time_ms' } as const;

const USED: Readonly<Record<Measure, (spent: Spending) => number>> = {
  tokens: tokensIn,
  cost: ({ cost_millicents }) => cost_millicents,
  time: ({ work_ms }) => work_ms,
};

export function agentsIn(runs: Runs, { kind, id }: BudgetScope): readonly AgentRun[] {
  if (kind === 'agent') return [runs.agents.get(id)].filter((agent) => agent !== undefined);
  const all = [...runs.agents.values()].filter(({ over }) => over === null);
  if (kind === 'day') return all;
  if (kind === 'task') {
    const family = new Set(familyOf(runs, id));
    return all.filter(({ task }) => task !== null && family.has(task.task_id));
  }
  return all.filter((agent) => pipelinesAround(runs, agent).some((run) => run.id === id));
}

export function openWorkMs(runs: Runs, scope: BudgetScope, at: string): number {
  const begin = scope.kind === 'day' ? Date.parse(`${scope.id}T00:00:00.000Z`) : 0;
  const working = agentsIn(runs, scope).filter((agent) => timeCategory(agent) === 'work');
  const times = working.map(({ since }) => Math.max(0, Date.parse(at) - Math.max(begin, Date.parse(since))));
  return times.reduce((sum, ms) => sum + ms, 0);
}

/** Removes a run's budget with the run, and all daily budgets except the newest. */
export function evolveBudgets({ agents, pipelines, budgets, decisions }: Runs, { type, data }: RecordedEvent): void {
  const change = (scope: BudgetScope, what: Partial<BudgetRecord>): void => {
    const key = budgetKey(scope);
    if (scope.kind === 'day') forgetDaysBefore(budgets, scope.id);
    budgets.set(key, { ...(budgets.get(key) ?? untouched(scope)), ...what });
  };
  // A budget is checked again after the last process of its run has exited, so it is kept as long as the run.
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

/**
 * Reports whether one more agent of this definition may run now. `more`: agents that are about to start as well.
 * `host`: the host for it.
 */
export function hasCapacity(
  { agents, hosts, fleet }: Pick<Runs, 'agents'> & FleetState,
  { name, max_concurrency: most }: AgentPlan,
  { maxAgents }: Rules,
  more: readonly AgentPlan[],
  host: string | undefined,
): boolean {
  const room = host === undefined ? undefined : hosts.get(host)?.agents;
  if (most === undefined && maxAgents === undefined && room === undefined) return true;
  const busy = [...agents.values()].filter(usesCapacity);
  if (room !== undefined) {
    const there = busy.filter((agent) => hostOf(agent, { fleet }) === host);
    if (there.length + more.length >= room) return false;
  }
  const all = [...busy.map(({ plan }) => plan), ...more];
  const same = all.filter((plan) => plan.name === name);
  return all.length < (maxAgents ?? Infinity) && same.length < (most ?? Infinity);
}

/**
 * Counts a running process, or one that will be resumed. An agent that exited and waits for a person does not count.
 */
function usesCapacity({ process, outcome, parked }: AgentRun): boolean {
  return process !== 'gone' || (outcome === null && parked === null);
}
