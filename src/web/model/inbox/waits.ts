import { isOver } from '../../../protocol/phase.ts';
import { accountKey } from '../../../state/runs/accounts.ts';
import { costOfTask } from '../../../state/runs/costs.ts';
import type { Decision } from '../../../state/runs/decision.ts';
import { agentSpending, NO_SPENDING, type Spending, tokensIn } from '../../../state/runs/spent.ts';
import { dependantsOf } from '../../../state/dependants.ts';
import type { State } from '../../../state/state.ts';
import { isCancelled } from '../../../state/tasks/task.ts';

/** What waits for a person, since when, and the work's cost so far. */
export interface Wait {
  /** Names of agents and pipelines, or of other things that wait. */
  readonly who: readonly string[];
  /** The number of open tasks that depend on the waiting one. */
  readonly tasks: number;
  readonly taskId: string | null;
  readonly since: string;
  readonly tokens: number;
  readonly costMillicents: number;
}

export interface Waits {
  /** Waits by the id of the open decision. */
  readonly decisions: Readonly<Record<string, Wait>>;
  /** Waits by the id of the task, for the requested tasks. */
  readonly tasks: Readonly<Record<string, Wait>>;
  /** The cost of each open workflow in thousandths of a cent. */
  readonly workflows: Readonly<Record<string, number>>;
  /** The names of agents that have run in this project. */
  readonly agents: readonly string[];
}

export function listWaits(state: State, { taskIds }: { readonly taskIds: readonly string[] }, nowMs: number): Waits {
  const at = new Date(nowMs).toISOString();
  const decisions: Record<string, Wait> = {};
  for (const decision of state.decisions.values())
    if (decision.result === null) decisions[decision.id] = waitOf(state, decision, at);
  const tasks: Record<string, Wait> = {};
  for (const id of taskIds) if (state.tasks.has(id)) tasks[id] = taskWait(state, id, at);
  const agents = [...new Set([...state.agents.values()].map(({ plan }) => plan.name))].toSorted();
  return { decisions, tasks, workflows: workflowCosts(state), agents };
}

function workflowCosts({ tasks, timelines, accounts }: State): Readonly<Record<string, number>> {
  const costs: Record<string, number> = {};
  for (const { id, flow } of tasks.values()) {
    if (flow.mode === null || isOver(timelines.get(id)?.spans.at(-1)?.activity ?? 'done')) continue;
    costs[id] = accounts.get(accountKey('task', id))?.cost_millicents ?? 0;
  }
  return costs;
}

function waitOf(state: State, decision: Decision, at: string): Wait {
  const taskId = decision.taskId ?? state.agents.get(decision.agentId ?? '')?.task?.task_id ?? null;
  const spent = taskId === null ? spentBy(state, decision) : costOfTask(state, taskId, at);
  return {
    who: whoWaits(state, decision),
    tasks: taskId === null ? 0 : countDependants(state, taskId),
    taskId,
    since: decision.openedAt,
    ...sumOf(spent),
  };
}

/** The runs that wait for the answer; without any, the subject of the decision. */
function whoWaits(state: State, { id, agentId, pipelineId, taskId, branch, adopts }: Decision): readonly string[] {
  const names: string[] = [];
  for (const { parked, outcome, plan } of state.agents.values())
    if (parked === id && outcome === null) names.push(plan.name);
  if (names.length > 0) return names;
  const agent = state.agents.get(agentId ?? '');
  if (agent !== undefined) return [agent.plan.name];
  const pipeline = state.pipelines.get(pipelineId ?? '');
  if (pipeline !== undefined) return [`pipeline ${pipeline.name}`];
  const task = state.tasks.get(taskId ?? '');
  if (task !== undefined) return [task.claim?.holder ?? task.nextRole ?? `task ${task.id}`];
  if (branch !== null) return [`merges into ${branch}`];
  return adopts === null ? [] : ['the new runbook'];
}

function spentBy(state: State, { agentId, pipelineId }: Decision): Spending {
  const agent = state.agents.get(agentId ?? '');
  if (agent !== undefined) return agentSpending(agent);
  return state.pipelines.get(pipelineId ?? '')?.spent ?? NO_SPENDING;
}

function taskWait(state: State, id: string, at: string): Wait {
  const task = state.tasks.get(id);
  return {
    who: [task?.claim?.holder ?? task?.nextRole ?? `task ${id}`],
    tasks: countDependants(state, id),
    taskId: id,
    since: state.timelines.get(id)?.spans.at(-1)?.from ?? at,
    ...sumOf(costOfTask(state, id, at)),
  };
}

function sumOf(spent: Spending): Pick<Wait, 'tokens' | 'costMillicents'> {
  return { tokens: tokensIn(spent), costMillicents: spent.cost_millicents };
}

function countDependants(state: State, id: string): number {
  let open = 0;
  for (const dependant of dependantsOf(state, id)) {
    const task = state.tasks.get(dependant);
    if (task !== undefined && task.phase !== 'COMPLETED' && !isCancelled(task)) open += 1;
  }
  return open;
}
