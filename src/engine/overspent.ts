import { event, type Event } from '../state/event.ts';
import { pipelinesAround } from '../state/runs/accounts.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import { type BudgetUse, listBudgetUses } from '../state/runs/budget.ts';
import type { Decision } from '../state/runs/decision.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import { isCancelled } from '../state/tasks/task.ts';
import { renderScope, renderUse } from './budgets.ts';
import type { EngineContext } from './context.ts';
import { askPeople } from './decisions/notify.ts';
import { findQueued, runStep } from './steps.ts';

/** On the last report or the exit of a process whose run is done: only now is the use of its last request known. */
export function askAfterAgent(world: EngineContext, agent: AgentRun): Event[] {
  if (agent.process !== 'gone' || agent.outcome !== 'done') return [];
  const around = pipelinesAround(world.state, agent);
  return [
    ...askIfOverspent(world, { kind: 'agent', id: agent.id }, around),
    ...around.flatMap((run, i) => askAfterPipeline(world, run, around.slice(i))),
  ];
}

/** On the end of a pipeline: the same for the pipeline's budgets. */
export function askAfterPipeline(world: EngineContext, run: PipelineRun, around = chainOf(world, run)): Event[] {
  return run.outcome === 'done' ? askIfOverspent(world, { kind: 'pipeline', id: run.id }, around) : [];
}

function chainOf({ state }: EngineContext, { id: pipelineId }: Pick<PipelineRun, 'id'>): readonly PipelineRun[] {
  return pipelinesAround(state, { owner: { pipelineId, step: '' } });
}

/** Opens a decision about a run that exceeded its budget. The next step of its pipeline waits for the answer. */
function askIfOverspent(world: EngineContext, scope: BudgetScope, around: readonly PipelineRun[]): Event[] {
  const { state, rules, at } = world;
  const overspent = listBudgetUses(state, scope, rules, at).find(isOverspent);
  if (overspent === undefined || isOverspendingDecided(world, scope)) return [];
  const isFollowed = around.some(({ outcome }) => outcome === null);
  const follows = isFollowed ? ' The next steps of the pipeline wait for the answer.' : '';
  const agent = scope.kind === 'agent' ? state.agents.get(scope.id) : undefined;
  const taskId = agent?.task?.task_id ?? around[0]?.task?.task_id ?? null;
  const task = state.tasks.get(taskId ?? '');
  // A cancelled task waits for no answer.
  if (task !== undefined && isCancelled(task)) return [];
  return askPeople(world, {
    source: 'budget',
    title: `Budget was overspent: ${renderScope(state, scope)}`,
    context: `${renderUse(overspent)}\nThe run has ended as done.${follows}`,
    options: isFollowed ? [KEEP_OPTION, CANCEL_OPTION] : [KEEP_OPTION],
    agent_id: agent?.id ?? null,
    pipeline_id: around[0]?.id ?? null,
    task_id: taskId,
    scope,
  });
}

const KEEP_OPTION = { label: 'Keep the result', action: 'done' } as const;
const CANCEL_OPTION = { label: 'Cancel the rest of the pipeline', action: 'cancel' } as const;

/** Does not check time again, because it also passes while the process exits. */
function isOverspent({ measure, used, limit }: BudgetUse): boolean {
  return measure !== 'time' && used > limit;
}

/** Whether a decision is already open, or a person ended the run when its budget was exhausted. */
function isOverspendingDecided({ state }: EngineContext, { kind, id }: BudgetScope): boolean {
  return [...state.decisions.values()].some(({ scope, result }) => {
    if (scope?.kind !== kind || scope.id !== id) return false;
    return result === null || (result.kind === 'resolved' && result.action !== 'approve');
  });
}

/**
 * On the end of a process: starts the steps that waited for it. A step that starts an agent starts when there is room;
 * see `fill-room`.
 */
export function beginStepsAfterExit(world: EngineContext, agent: AgentRun): Event[] {
  const { state } = world;
  if (agent.outcome === null || agent.process !== 'gone') return [];
  const waiting = pipelinesAround(state, agent).filter((run) => run.outcome === null);
  return waiting.filter((run) => findQueued(state, run) === undefined).flatMap((run) => runStep(world, run));
}

/** On the answer to a question about a finished run: starts or cancels the steps that waited for it. */
export function beginStepsAfterAnswer(world: EngineContext, decision: Decision, isCancelled: boolean): Event[] {
  const { pipelineId } = decision;
  const chain = pipelineId === null ? [] : chainOf(world, { id: pipelineId });
  const waiting = chain.filter((run) => run.outcome === null);
  if (!isCancelled) return waiting.flatMap((run) => runStep(world, run));
  const outermost = waiting.at(-1);
  const reason = 'decision: cancel: a budget was overspent';
  return outermost === undefined ? [] : [event('PipelineCancelRequested', { pipeline_id: outermost.id, reason })];
}
