import { renderDollars } from '../protocol/price.ts';
import { renderElapsedTime } from '../protocol/text/text-format.ts';
import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope, Measure } from '../state/runs/budget-scope.ts';
import {
  agentsIn,
  budgetKey,
  budgetOf,
  type BudgetUse,
  findHighestUse,
  isSpent,
  openWorkMs,
  scopesOf,
  spendingIn,
  WARN_AT,
} from '../state/runs/budget.ts';
import { type Decision, OPTION_LABELS } from '../state/runs/decision.ts';
import { findTimers } from '../state/runs/effect.ts';
import type { Question } from '../state/runs/resolve-decision.ts';
import { dayOf, nextDayMs, timeCategory } from '../state/runs/spent.ts';
import type { State } from '../state/state.ts';
import { isCancelled } from '../state/tasks/task.ts';
import { addMs, cancelPending, type EngineContext, setTimer } from './context.ts';
import { parkAgent } from './decisions/escalate.ts';
import { isAtWork } from './handlers.ts';
import { askPeople } from './decisions/notify.ts';

/** On reported use, or before an agent starts: checks each budget that the agent draws on, the narrowest first. */
export function watchBudgets(world: EngineContext, agent: AgentRun): Event[] {
  const events: Event[] = [];
  for (const scope of scopesOf(world.state, agent, world.at)) {
    // An agent parked for one budget is checked against the next when that decision is answered. Other agents are
    // checked now.
    const parked = new Set(events.flatMap(({ type, data }) => (type === 'AgentParked' ? [data.agent_id] : [])));
    events.push(...watchBudget(world, scope, parked));
  }
  return events;
}

/**
 * Parks the agents of an exhausted budget, or warns once if it is mostly used. Does nothing if no agent works on it.
 */
function watchBudget(world: EngineContext, scope: BudgetScope, parked: ReadonlySet<string> = new Set()): Event[] {
  const { state, rules, at } = world;
  const use = findHighestUse(state, scope, rules, at);
  if (use === undefined) return [];
  const unpriced = warnUnpriced(world, scope);
  const all = isSpent(use) ? agentsIn(state, scope) : [];
  const working = all.filter((agent) => isAtWork(agent) && !parked.has(agent.id));
  if (working.length > 0) return [...unpriced, ...reachBudget(world, scope, use, working)];
  return [...unpriced, ...warn(world, scope, use)];
}

function warn(world: EngineContext, scope: BudgetScope, use: BudgetUse): Event[] {
  const { state, newId } = world;
  const record = state.budgets.get(budgetKey(scope));
  // People with an open decision about the budget need no warning.
  const isAsked = state.decisions.get(record?.decisionId ?? '')?.result === null;
  if (record?.isWarned === true || isAsked || use.used < use.limit * WARN_AT || isOver(world, scope)) return [];
  const { measure, used, limit } = use;
  const title = `Budget of ${renderScope(state, scope)}: ${Math.floor((used / limit) * 100)} % used`;
  const about = { notification_id: newId(), title, message: renderUse(use), decision_id: null };
  return [
    event('BudgetWarned', { scope, measure, used, limit }),
    event('NotificationRequested', { kind: 'warning', ...about }),
  ];
}

/** Warns once that a cost limit has no effect, because the price is unknown. */
function warnUnpriced(world: EngineContext, scope: BudgetScope): Event[] {
  const { state, rules, newId } = world;
  if (budgetOf(state, scope, rules)?.cost_millicents === undefined || isOver(world, scope)) return [];
  if (spendingIn(state, scope).unpriced_tokens === 0 || state.budgets.get(budgetKey(scope))?.isUnpriced === true)
    return [];
  const using = agentsIn(state, scope).find(({ usage }) => (usage?.unpriced_tokens ?? 0) > 0);
  const model = using?.usage?.model ?? null;
  const title = `Budget of ${renderScope(state, scope)}: the cost is not known`;
  const what = model === null ? 'its model' : `model ${model}`;
  const message = `Neither the client nor Baton's list names a price for ${what}; add one to [prices]. The tokens are counted, the cost is not.`;
  const about = { notification_id: newId(), title, message, decision_id: null };
  return [event('BudgetUnpriced', { scope, model }), event('NotificationRequested', { kind: 'warning', ...about })];
}

/** The last reports of a finished run cause no warning. */
function isOver({ state }: EngineContext, { kind, id }: BudgetScope): boolean {
  if (kind === 'agent') return state.agents.get(id)?.outcome !== null;
  return kind === 'pipeline' && state.pipelines.get(id)?.outcome !== null;
}

/** When an agent starts to work: sets a timer, because no report arrives when its time is used up. */
export function timeBudgets(world: EngineContext, agent: AgentRun): Event[] {
  return scopesOf(world.state, agent, world.at).flatMap((scope) => timeBudget(world, scope));
}

/** On the `budget` timer. If other agents have stopped working, time may be left. */
export function onBudgetTimer(world: EngineContext, scope: BudgetScope): Event[] {
  const today = dayOf(world.at);
  // The day is over. Agents that still work draw on the new day's budget.
  if (scope.kind === 'day' && scope.id !== today) return timeBudget(world, { kind: 'day', id: today });
  const followed = watchBudget(world, scope);
  // After a warning, a new timer is set for the moment at which the budget is exhausted.
  const isWarned = followed.some(({ type }) => type === 'BudgetWarned');
  return [...followed, ...timeBudget(world, scope, isWarned)];
}

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
  // An exhausted budget waits for a decision, whose answer continues every agent that draws on it.
  if (used >= limit) return [];
  // Agents that share a budget spend it in parallel.
  const ms = Math.ceil((next - used) / working);
  const [set, ...others] = timersFor(world, scope);
  const isSoonEnough = set !== undefined && set.data.due <= addMs(at, ms);
  const moot = set === undefined || isSoonEnough ? others : [set, ...others];
  return [...cancelPending(moot), ...(isSoonEnough ? [] : [setTimer(world, ms, { kind: 'budget', scope })])];
}

function timersFor({ state }: EngineContext, { kind, id }: BudgetScope) {
  return findTimers(
    state,
    (purpose) => purpose.kind === 'budget' && purpose.scope.kind === kind && purpose.scope.id === id,
  );
}

/**
 * Handles an exhausted budget: opens one decision for which every agent on the budget waits. A running tool call may
 * end; the next one is held. Agents that draw on the budget later wait for the same decision.
 */
function reachBudget(world: EngineContext, scope: BudgetScope, use: BudgetUse, working: readonly AgentRun[]): Event[] {
  const { asked, decisionId } = openBudgetDecision(world, scope, use);
  return [...asked, ...working.flatMap((agent) => parkAgent(world, agent, decisionId, `budget: ${renderUse(use)}`))];
}

export function openBudgetDecision(world: EngineContext, scope: BudgetScope, use: BudgetUse) {
  const [open] = listOpenBudgetDecisions(world, scope);
  if (open !== undefined) return { asked: [], decisionId: open.id };
  const decisionId = world.newId();
  const title = `Budget is used up: ${renderScope(world.state, scope)}`;
  const { measure, used, limit } = use;
  const frees = scope.kind === 'day' ? '\nThe budget of the next day begins at 00:00 UTC.' : '';
  const context = `${renderUse(use)}${frees}\nRunning work may finish; no new work starts until you answer.`;
  const asked = [
    event('BudgetReached', { scope, measure, used, limit, decision_id: decisionId }),
    ...askPeople(
      world,
      { source: 'budget', title, context, options: optionsFor(scope, use), ...subjectOf(world, scope), scope },
      decisionId,
    ),
    ...setDayTimer(world, scope),
  ];
  return { asked, decisionId };
}

/** How many times a budget must be raised by its own amount to exceed the used and reserved amount. */
export function countRaises({ used, reserved, base, limit }: BudgetUse): number {
  return Math.max(Math.round(limit / base), Math.floor((used + reserved) / base));
}

/**
 * Looks at decisions, not budgets: a day's record is dropped at the first use on the next day, and clocks can go back.
 */
export function listOpenBudgetDecisions({ state }: EngineContext, { kind, id }: BudgetScope): readonly Decision[] {
  const open = [...state.decisions.values()].filter(({ result }) => result === null);
  return open.filter(({ scope }) => scope?.kind === kind && scope.id === id);
}

function optionsFor({ kind }: BudgetScope, use: BudgetUse): Question['options'] {
  const raised = renderAmount(use.measure, use.base * (1 + countRaises(use)));
  return [
    { label: `Raise the budget to ${raised}`, action: 'approve' },
    // A person cannot declare a day as done.
    ...(kind === 'day' ? [] : [{ label: OPTION_LABELS.done, action: 'done' } as const]),
    { label: 'Cancel the waiting work', action: 'cancel' },
  ];
}

/** A cancelled task has no open decisions, but the tasks that its sessions made may still draw on its budget. */
function subjectOf({ state }: EngineContext, { kind, id }: BudgetScope) {
  const agent = kind === 'agent' ? state.agents.get(id) : undefined;
  const run = state.pipelines.get(kind === 'pipeline' ? id : (agent?.owner?.pipelineId ?? ''));
  const taskId = kind === 'task' ? id : (agent?.task?.task_id ?? run?.task?.task_id ?? null);
  const task = state.tasks.get(taskId ?? '');
  const task_id = task !== undefined && isCancelled(task) ? null : taskId;
  return { agent_id: agent?.id ?? null, pipeline_id: run?.id ?? null, task_id };
}

/** Sets the timer that releases the waiting work on the next day. */
function setDayTimer({ state, at, newId }: EngineContext, { kind, id }: BudgetScope): Event[] {
  if (kind !== 'day') return [];
  const isSet = findTimers(state, (purpose) => purpose.kind === 'day' && purpose.day === id).length > 0;
  const due = new Date(nextDayMs(Date.parse(at))).toISOString();
  return isSet ? [] : [event('TimerSet', { timer_id: newId(), due, purpose: { kind: 'day', day: id } })];
}

export function renderScope({ agents, pipelines }: State, { kind, id }: BudgetScope): string {
  if (kind === 'agent') return `agent ${agents.get(id)?.plan.name ?? id}`;
  if (kind === 'pipeline') return `pipeline ${pipelines.get(id)?.name ?? id}`;
  return `${kind} ${id}`;
}

/** Renders use as `210,000 of 200,000 tokens`. */
export function renderUse({ measure, used, limit, reserved }: BudgetUse): string {
  const isNext = used < limit && used + reserved >= limit;
  const next = isNext ? `; a request in progress counts as ${renderAmount(measure, reserved, false)}` : '';
  return `${renderAmount(measure, used, false)} of ${renderAmount(measure, limit)}${next}`;
}

function renderAmount(measure: Measure, value: number, withUnit = true): string {
  if (measure === 'cost') return renderDollars(value);
  if (measure === 'time') return renderElapsedTime(value);
  return `${String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')}${withUnit ? ' tokens' : ''}`;
}
