import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import type { BudgetUse } from '../state/runs/budget.ts';
import type { Decision, DecisionOption } from '../state/runs/decision.ts';
import { OPTION_LABELS } from '../state/runs/option-labels.ts';
import { nextDayMs } from '../state/runs/spent.ts';
import { renderAmount, renderUse, renderScope } from './budget-words.ts';
import { parkAgent } from './escalate.ts';
import { notifyAttention } from './notify.ts';
import type { EngineContext } from './context.ts';

/**
 * A budget is used up: one question, and all who draw on it wait for the answer. What is under way in a client may end; its next step is
 * held. Whoever comes later waits for the same answer.
 */
export function reachBudget(
  world: EngineContext,
  scope: BudgetScope,
  use: BudgetUse,
  working: readonly AgentRun[],
): Event[] {
  const { asked, decisionId } = openBudgetDecision(world, scope, use);
  return [...asked, ...working.flatMap((agent) => parkAgent(world, agent, decisionId, `budget: ${renderUse(use)}`))];
}

/** The question that is open about a budget, or a new one. */
export function openBudgetDecision(world: EngineContext, scope: BudgetScope, use: BudgetUse) {
  const [open] = listOpenBudgetDecisions(world, scope);
  if (open !== undefined) return { asked: [], decisionId: open.id };
  const { state, newId } = world;
  const decisionId = newId();
  const name = renderScope(state, scope);
  const title = `Budget is used up: ${name}`;
  const { measure, used, limit } = use;
  const frees = scope.kind === 'day' ? '\nIt begins anew with the next day, at 00:00 UTC.' : '';
  const context = `${renderUse(use)}${frees}\nWhat is under way may end; nothing new is begun until this is decided.`;
  const asked = [
    event('BudgetReached', { scope, measure, used, limit, decision_id: decisionId }),
    event('DecisionOpened', {
      decision_id: decisionId,
      source: 'budget',
      title,
      context,
      options: optionsFor(scope, use),
      ...subjectOf(world, scope),
      scope,
    }),
    notifyAttention(world, title, context, decisionId),
    ...setDayTimer(world, scope),
  ];
  return { asked, decisionId };
}

/** Raised by its own amount, as often as it takes to be more than what is used and reserved. */
export function countRaises({ used, reserved, base, limit }: BudgetUse): number {
  return Math.max(Math.round(limit / base), Math.floor((used + reserved) / base));
}

/** By the question itself: what has happened to the budget of a day is forgotten with the first word about the next, and clocks go back. */
export function listOpenBudgetDecisions({ state }: EngineContext, { kind, id }: BudgetScope): readonly Decision[] {
  const open = [...state.decisions.values()].filter(({ result }) => result === null);
  return open.filter(({ scope }) => scope?.kind === kind && scope.id === id);
}

function optionsFor({ kind }: BudgetScope, use: BudgetUse): DecisionOption[] {
  const raised = renderAmount(use.measure, use.base * (1 + countRaises(use)));
  return [
    { label: `Raise the budget to ${raised}`, action: 'approve', recommended: true },
    // Of a day nobody says that all its work is done.
    ...(kind === 'day' ? [] : [{ label: OPTION_LABELS.done, action: 'done', recommended: false } as const]),
    { label: 'Cancel the waiting work', action: 'cancel', recommended: false },
  ];
}

function subjectOf({ state }: EngineContext, { kind, id }: BudgetScope) {
  const agent = kind === 'agent' ? state.agents.get(id) : undefined;
  const run = state.pipelines.get(kind === 'pipeline' ? id : (agent?.owner?.pipelineId ?? ''));
  const task = kind === 'task' ? id : (agent?.task?.task_id ?? run?.task?.task_id ?? null);
  return { agent_id: agent?.id ?? null, pipeline_id: run?.id ?? null, task_id: task };
}

/** The next day frees what waits for this one. */
function setDayTimer({ state, at, newId }: EngineContext, { kind, id }: BudgetScope): Event[] {
  if (kind !== 'day') return [];
  const isSet = [...state.effects.values()].some(
    (effect) => effect.kind === 'wait' && effect.purpose.kind === 'day' && effect.purpose.day === id,
  );
  const due = new Date(nextDayMs(Date.parse(at))).toISOString();
  return isSet ? [] : [event('TimerSet', { timer_id: newId(), due, purpose: { kind: 'day', day: id } })];
}
