import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import {
  agentsIn,
  budgetKey,
  budgetOf,
  isSpent,
  scopesOf,
  spendingIn,
  findHighestUse,
  WARN_AT,
  type BudgetUse,
} from '../state/runs/budget.ts';
import { renderUse, renderScope } from './budget-words.ts';
import { reachBudget } from './reach-budget.ts';
import { isAtWork } from './handlers.ts';
import type { EngineContext } from './context.ts';

/** On whatever an agent uses, or wants to begin to use: each budget that it draws on is looked at, the narrowest first. */
export function watchBudgets(world: EngineContext, agent: AgentRun): Event[] {
  const events: Event[] = [];
  for (const scope of scopesOf(world.state, agent, world.at)) {
    // Whoever is parked for one budget hears of the next when that one is settled; the others who draw on it hear now.
    const parked = new Set(events.flatMap(({ type, data }) => (type === 'AgentParked' ? [data.agent_id] : [])));
    events.push(...watchBudget(world, scope, parked));
  }
  return events;
}

/** Used up, it stops those who draw on it; mostly used, people hear of it once. Where nobody works any more there is nothing to stop. */
export function watchBudget(world: EngineContext, scope: BudgetScope, parked: ReadonlySet<string> = NOBODY): Event[] {
  const { state, rules, at } = world;
  const use = findHighestUse(state, scope, rules, at);
  if (use === undefined) return [];
  const unpriced = warnUnpriced(world, scope);
  const all = isSpent(use) ? agentsIn(state, scope) : [];
  const working = all.filter((agent) => isAtWork(agent) && !parked.has(agent.id));
  if (working.length > 0) return [...unpriced, ...reachBudget(world, scope, use, working)];
  return [...unpriced, ...warn(world, scope, use)];
}

const NOBODY: ReadonlySet<string> = new Set();

function warn(world: EngineContext, scope: BudgetScope, use: BudgetUse): Event[] {
  const { state, newId } = world;
  const record = state.budgets.get(budgetKey(scope));
  // Who is asked about it needs no warning.
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

/** A limit on money means nothing where nobody knows the price: people are told instead of being let believe. */
function warnUnpriced(world: EngineContext, scope: BudgetScope): Event[] {
  const { state, rules, newId } = world;
  if (budgetOf(state, scope, rules)?.cost_millicents === undefined || isOver(world, scope)) return [];
  if (spendingIn(state, scope).unpriced_tokens === 0 || state.budgets.get(budgetKey(scope))?.isUnpriced === true)
    return [];
  const using = agentsIn(state, scope).find(({ usage }) => (usage?.unpriced_tokens ?? 0) > 0);
  const model = using?.usage?.model ?? null;
  const title = `Budget of ${renderScope(state, scope)}: the cost is not known`;
  const what = model === null ? 'its model' : `model ${model}`;
  const message = `Neither the client nor Baton's list names a price for ${what}; add one to [prices]. Its tokens are counted, its cost is not.`;
  const about = { notification_id: newId(), title, message, decision_id: null };
  return [event('BudgetUnpriced', { scope, model }), event('NotificationRequested', { kind: 'warning', ...about })];
}

/** Its last words may still come in when nobody needs to be told of it any more. */
function isOver({ state }: EngineContext, { kind, id }: BudgetScope): boolean {
  if (kind === 'agent') return state.agents.get(id)?.outcome !== null;
  return kind === 'pipeline' && state.pipelines.get(id)?.outcome !== null;
}
