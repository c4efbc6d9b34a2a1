import { hostOf } from '../../../state/fleet/fleet.ts';
import { type AgentRun, type AgentStatus, agentStatus } from '../../../state/runs/agent-run.ts';
import type { Measure } from '../../../state/runs/budget-scope.ts';
import { findHighestUse } from '../../../state/runs/budget.ts';
import { agentSpending, tokensIn } from '../../../state/runs/spent.ts';
import type { State } from '../../../state/state.ts';

interface BudgetShare {
  readonly measure: Measure;
  readonly used: number;
  readonly limit: number;
  readonly percent: number;
}

/** One row of the list of agents. */
export interface AgentRow {
  readonly id: string;
  readonly name: string;
  readonly status: AgentStatus;
  readonly role: string | null;
  readonly model: string | null;
  readonly taskId: string | null;
  readonly pipelineId: string | null;
  readonly worker: string | null;
  /** Undefined if the project has only one host. */
  readonly host?: string;
  readonly requestedAt: string;
  /** Null while the run continues. */
  readonly endedAt: string | null;
  /** Null if the client does not report usage. */
  readonly tokens: number | null;
  readonly costMillicents: number | null;
  readonly unpricedTokens: number;
  /** The budget of this run alone; null if it has none. */
  readonly budget: BudgetShare | null;
}

export interface AgentsParams {
  /** `running`: only runs that continue. `all`: all that the state keeps. */
  readonly show: 'running' | 'all';
  readonly from: number;
  readonly to: number;
}

export interface AgentsResult {
  readonly total: number;
  readonly from: number;
  readonly rows: readonly AgentRow[];
  readonly counts: Readonly<Record<AgentStatus, number>>;
}

/** The order: first those that need a person, then those that work, then ended ones, newest first. */
const PLACES: Readonly<Record<AgentStatus, number>> = {
  escalated: 0,
  running: 1,
  attached: 1,
  starting: 2,
  leaving: 3,
  failed: 4,
  done: 4,
  cancelled: 4,
};
const OVER = PLACES.done;

export function listAgents(state: State, { show, from, to }: AgentsParams, nowMs: number): AgentsResult {
  const counts = { starting: 0, running: 0, attached: 0, escalated: 0, leaving: 0, done: 0, failed: 0, cancelled: 0 };
  const found: { readonly agent: AgentRun; readonly place: number }[] = [];
  for (const agent of state.agents.values()) {
    const status = agentStatus(agent);
    counts[status] += 1;
    const place = PLACES[status];
    if (show === 'all' || place < OVER) found.push({ agent, place });
  }
  found.sort((a, b) => a.place - b.place || compareTimes(b.agent.requestedAt, a.agent.requestedAt));
  const at = new Date(nowMs).toISOString();
  const rows = found.slice(from, to).map(({ agent }) => toRow(state, agent, at));
  return { total: found.length, from, rows, counts };
}

function compareTimes(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function toRow(state: State, agent: AgentRun, at: string): AgentRow {
  const { id, plan, owner, task, worker, usage, requestedAt, outcome, exit } = agent;
  const host = hostOf(agent, state);
  return {
    id,
    name: plan.name,
    status: agentStatus(agent),
    role: plan.role ?? null,
    model: usage?.model ?? plan.model ?? null,
    taskId: task?.task_id ?? null,
    pipelineId: owner?.pipelineId ?? null,
    worker: worker ?? null,
    ...(host === undefined ? {} : { host }),
    requestedAt,
    endedAt: outcome === null ? null : (exit?.at ?? null),
    tokens: usage === null ? null : tokensIn(agentSpending(agent)),
    costMillicents: usage?.cost_millicents ?? null,
    unpricedTokens: usage?.unpriced_tokens ?? 0,
    budget: budgetOf(state, id, at),
  };
}

/** Placeholder rules: the budget of a run is part of its plan. */
const NO_RULES = { ciGate: false, mergeGate: false };

function budgetOf(state: State, id: string, at: string): BudgetShare | null {
  const use = findHighestUse(state, { kind: 'agent', id }, NO_RULES, at);
  if (use === undefined) return null;
  const { measure, used, limit } = use;
  return { measure, used, limit, percent: limit === 0 ? 100 : Math.floor((used / limit) * 100) };
}
