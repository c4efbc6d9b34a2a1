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

/** By what spending is added up. Of each kind every part of it is in exactly one account. */
export const ACCOUNTS = ['agent', 'pipeline', 'task', 'day', 'model'] as const;
export type AccountKind = (typeof ACCOUNTS)[number];

export function accountKey(kind: AccountKind, name: string): string {
  return `${kind}:${name}`;
}

/** An interval of an agent's time is over where it begins to work, to wait, or does neither any more. */
export function addElapsedTime(before: AgentRun, after: AgentRun, at: string): AgentRun {
  const was = timeCategory(before);
  // A clock that was set back would count nothing until it has caught up: the interval begins anew.
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
 * Puts what an entry has added to an agent's spending where it belongs: to its name, its outermost pipeline, its task, its model and the day,
 * and to each pipeline that it runs in. A few additions, however much there is.
 */
export function postSpending(runs: Runs, before: AgentRun, after: AgentRun, at: string): void {
  const spent = subtractSpending(agentSpending(after), agentSpending(before));
  if (Object.values(spent).every((value) => value === 0)) return;
  const chain = pipelinesAround(runs, after);
  for (const run of chain) runs.pipelines.set(run.id, { ...run, spent: addSpending(run.spent, spent) });
  add(runs, 'agent', after.plan.name, spent);
  add(runs, 'pipeline', chain.at(-1)?.name ?? '', spent);
  add(runs, 'task', after.task?.task_id ?? '', spent);
  add(runs, 'model', after.usage?.model ?? '', spent);
  // Tokens count when they are told of; time counts when it passes.
  const { work_ms, wait_ms, ...used } = spent;
  add(runs, 'day', dayOf(at), { ...used, work_ms: 0, wait_ms: 0 });
  if (work_ms + wait_ms === 0) return;
  const kind = work_ms > 0 ? 'work_ms' : 'wait_ms';
  for (const { day, ms } of splitByDay(before.since, at)) add(runs, 'day', day, { ...NO_SPENDING, [kind]: ms });
}

/** The pipelines that an agent runs in, the innermost first. */
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
