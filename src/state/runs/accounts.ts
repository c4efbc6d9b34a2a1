import type { AgentRun } from './agent-run.ts';
import type { PipelineRun } from './pipeline-run.ts';
import type { Runs } from './runs.ts';
import {
  splitByDay,
  timeCategory,
  dayOf,
  subtractSpending,
  NO_SPENDING,
  addSpending,
  agentSpending,
  type Spending,
} from './spent.ts';

/** The kinds of accounts; every amount spent is in exactly one account of each kind. */
export const ACCOUNTS = ['agent', 'pipeline', 'task', 'day', 'model'] as const;
export type AccountKind = (typeof ACCOUNTS)[number];

export function accountKey(kind: AccountKind, name: string): string {
  return `${kind}:${name}`;
}

/** Closes an interval when the agent begins to work, begins to wait, or stops both. */
export function addElapsedTime(before: AgentRun, after: AgentRun, at: string): AgentRun {
  const was = timeCategory(before);
  // If the clock was set back, the interval restarts; otherwise it would count nothing for a while.
  if (was === timeCategory(after)) return at < after.since ? { ...after, since: at } : after;
  const ms = Math.max(0, Date.parse(at) - Date.parse(before.since));
  return {
    ...after,
    since: at,
    workMs: after.workMs + (was === 'work' ? ms : 0),
    waitMs: after.waitMs + (was === 'wait' ? ms : 0),
  };
}

/**
 * Adds an agent's new spending to its accounts (agent, outermost pipeline, task, model, day) and to each pipeline that
 * it runs in.
 */
export function postSpending(runs: Runs, before: AgentRun, after: AgentRun, at: string): void {
  const spent = subtractSpending(agentSpending(after), agentSpending(before));
  if (Object.values(spent).every((value) => value === 0)) return;
  const chain = pipelinesAround(runs, after);
  for (const run of chain) runs.pipelines.set(run.id, { ...run, spent: addSpending(run.spent, spent) });
  const { agent, pipeline, task, model } = accountsOfAgent(runs, after, chain);
  add(runs, 'agent', agent, spent);
  add(runs, 'pipeline', pipeline, spent);
  add(runs, 'task', task, spent);
  add(runs, 'model', model, spent);
  // Tokens are posted when they are reported; time is posted when it passes.
  const { work_ms, wait_ms, ...used } = spent;
  add(runs, 'day', dayOf(at), { ...used, work_ms: 0, wait_ms: 0 });
  if (work_ms + wait_ms === 0) return;
  const kind = work_ms > 0 ? 'work_ms' : 'wait_ms';
  for (const { day, ms } of splitByDay(before.since, at)) add(runs, 'day', day, { ...NO_SPENDING, [kind]: ms });
}

/** The accounts that an agent's spending belongs to; empty names if it belongs to none. */
export function accountsOfAgent(
  runs: Runs,
  { plan, owner, task, usage }: AgentRun,
  chain = pipelinesAround(runs, { owner }),
): Readonly<Record<Exclude<AccountKind, 'day'>, string>> {
  const pipeline = chain.at(-1)?.name ?? '';
  return { agent: plan.name, pipeline, task: task?.task_id ?? '', model: usage?.model ?? '' };
}

/** The pipelines around a run, innermost first. */
export function pipelinesAround(
  { pipelines }: Pick<Runs, 'pipelines'>,
  { owner }: Pick<AgentRun, 'owner'>,
): readonly PipelineRun[] {
  const chain: PipelineRun[] = [];
  for (let id = owner?.pipelineId; id !== undefined;) {
    const run = pipelines.get(id);
    if (run === undefined) break;
    chain.push(run);
    id = run.parent?.pipelineId;
  }
  return chain;
}

function add({ accounts }: Runs, kind: AccountKind, name: string, spent: Spending): void {
  const key = accountKey(kind, name);
  accounts.set(key, addSpending(accounts.get(key) ?? NO_SPENDING, spent));
}
