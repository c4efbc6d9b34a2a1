import { phaseMovedEvent } from '../state/tasks/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import { findHighestUse } from '../state/runs/budget.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import { isOfDoneRun } from '../state/runs/open-decisions.ts';
import { beginStepsAfterAnswer } from './begin-gate.ts';
import { endAgent } from './end-agent.ts';
import { listOpenBudgetDecisions, countRaises } from './reach-budget.ts';
import { describeReason, unparkAgent } from './set-going.ts';
import { wakeAgent } from './resume.ts';
import type { EngineContext } from './context.ts';

/** On the answer to the question about a budget: it is for all who wait for it. */
export function onBudgetDecision(
  world: EngineContext,
  decision: Decision,
  action: DecisionAction,
  message: string | null,
): Event[] {
  const { id, scope } = decision;
  const waiting = agentsWaitingFor(world, id);
  if (action !== 'approve') {
    const outcome = action === 'done' ? 'done' : 'cancelled';
    const why = describeReason(action, message);
    const ended = waiting.flatMap((agent) => [...unparkAgent(world, agent), ...endAgent(world, agent, outcome, why)]);
    const followed = isOfDoneRun(world.state, scope) ? beginStepsAfterAnswer(world, decision, action === 'cancel') : [];
    return [...ended, ...followed, ...(scope?.kind === 'task' ? blockUnclaimed(world, scope.id, why) : [])];
  }
  return [...(scope === null ? [] : raiseBudget(world, scope)), ...resumeWaiting(world, waiting, message)];
}

/** On the `day` timer: what waited for the day that is over draws on the next one. */
export function onNewDay(world: EngineContext, day: string): Event[] {
  return listOpenBudgetDecisions(world, { kind: 'day', id: day }).flatMap(({ id }) => [
    event('DecisionWithdrawn', { decision_id: id, reason: 'a new day has begun' }),
    ...resumeWaiting(world, agentsWaitingFor(world, id), null),
  ]);
}

/** On the end of a pipeline: nobody needs to decide about its budget any more. */
export function withdrawBudget(world: EngineContext, scope: BudgetScope): Event[] {
  const reason = `the ${scope.kind} is over`;
  return listOpenBudgetDecisions(world, scope).map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason }));
}

/** Nobody works on it: workers must not ask for it again and again. */
function blockUnclaimed({ state }: EngineContext, taskId: string, why: string): Event[] {
  const task = state.tasks.get(taskId);
  if (task === undefined || task.claim !== null || task.phase === 'COMPLETED' || task.phase === 'BLOCKED') return [];
  return [phaseMovedEvent(task, 'BLOCKED', { cause: 'decision', reason: why })];
}

function raiseBudget({ state, rules, at }: EngineContext, scope: BudgetScope): Event[] {
  const use = findHighestUse(state, scope, rules, at);
  return use === undefined ? [] : [event('BudgetRaised', { scope, raises: countRaises(use) })];
}

function resumeWaiting(world: EngineContext, waiting: readonly AgentRun[], message: string | null): Event[] {
  return waiting.flatMap((agent) => [...unparkAgent(world, agent), ...wakeAgent(world, agent, message)]);
}

function agentsWaitingFor({ state }: EngineContext, decisionId: string): readonly AgentRun[] {
  return [...state.agents.values()].filter(({ parked, outcome }) => parked === decisionId && outcome === null);
}
