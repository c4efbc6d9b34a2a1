import { moveTo } from '../state/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import { useOf } from '../state/runs/budget.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import { isOfDoneRun } from '../state/runs/overspent-question.ts';
import { beginAfterAnswer } from './begin-gate.ts';
import { endAgent } from './end-agent.ts';
import { findAsked, raisesFor } from './reach-budget.ts';
import { because, setGoing } from './set-going.ts';
import { wake } from './tell.ts';
import type { World } from './world.ts';

/** On the answer to the question about a budget: it is for all who wait for it. */
export function onBudgetDecision(
  world: World,
  decision: Decision,
  action: DecisionAction,
  message: string | null,
): Event[] {
  const { id, scope } = decision;
  const waiting = waitingFor(world, id);
  if (action !== 'approve') {
    const outcome = action === 'done' ? 'done' : 'cancelled';
    const why = because(action, message);
    const ended = waiting.flatMap((agent) => [...setGoing(world, agent), ...endAgent(world, agent, outcome, why)]);
    const followed = isOfDoneRun(world.state, scope) ? beginAfterAnswer(world, decision, action === 'cancel') : [];
    return [...ended, ...followed, ...(scope?.kind === 'task' ? blockUnclaimed(world, scope.id, why) : [])];
  }
  return [...(scope === null ? [] : raise(world, scope)), ...goOn(world, waiting, message)];
}

/** On the `day` timer: what waited for the day that is over draws on the next one. */
export function onNewDay(world: World, day: string): Event[] {
  return findAsked(world, { kind: 'day', id: day }).flatMap(({ id }) => [
    event('DecisionWithdrawn', { decision_id: id, reason: 'a new day has begun' }),
    ...goOn(world, waitingFor(world, id), null),
  ]);
}

/** On the end of a pipeline: nobody needs to decide about its budget any more. */
export function withdrawBudget(world: World, scope: BudgetScope): Event[] {
  const reason = `the ${scope.kind} is over`;
  return findAsked(world, scope).map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason }));
}

/** Nobody works on it: workers must not ask for it again and again. */
function blockUnclaimed({ state }: World, taskId: string, why: string): Event[] {
  const task = state.tasks.get(taskId);
  if (task === undefined || task.claim !== null || task.phase === 'COMPLETED' || task.phase === 'BLOCKED') return [];
  return [moveTo(task, 'BLOCKED', { cause: 'decision', reason: why })];
}

function raise({ state, rules, at }: World, scope: BudgetScope): Event[] {
  const use = useOf(state, scope, rules, at);
  return use === undefined ? [] : [event('BudgetRaised', { scope, raises: raisesFor(use) })];
}

function goOn(world: World, waiting: readonly AgentRun[], message: string | null): Event[] {
  return waiting.flatMap((agent) => [...setGoing(world, agent), ...wake(world, agent, message)]);
}

function waitingFor({ state }: World, decisionId: string): readonly AgentRun[] {
  return [...state.agents.values()].filter(({ parked, outcome }) => parked === decisionId && outcome === null);
}
