import { isOver } from '../../../protocol/phase.ts';
import { hostOf } from '../../../state/fleet/fleet.ts';
import { accountKey, pipelinesAround } from '../../../state/runs/accounts.ts';
import { agentSpending, NO_SPENDING, type Spending, tokensIn } from '../../../state/runs/spent.ts';
import { type AgentRun, agentStatus } from '../../../state/runs/agent-run.ts';
import { findPipelineDecision, overallPipelineStatus } from '../../../state/runs/steer-pipeline.ts';
import type { PipelineRun } from '../../../state/runs/pipeline-run.ts';
import type { State } from '../../../state/state.ts';
import type { Task } from '../../../state/tasks/task.ts';
import { taskOutlook } from '../../../state/timeline/task-outlook.ts';
import { WORK_GROUPS, type WorkGroup } from './kinds.ts';
import { agentStages, pipelineStages, taskStages } from './run-stages.ts';
import type { StripStage } from '../strip.ts';

/** A workflow, a task that a session works on, a pipeline or a lone agent. Runs inside one of them have no row. */
export interface WorkRow {
  /** The key in the address: `task:ID`, `pipeline:ID` or `agent:ID`. */
  readonly key: string;
  readonly kind: 'workflow' | 'task' | 'pipeline' | 'agent';
  readonly id: string;
  readonly title: string;
  readonly group: WorkGroup;
  readonly state: string;
  /** The question to a person, or why the run ended; null if there is neither. */
  readonly reason: string | null;
  readonly decisionId: string | null;
  readonly stages: readonly StripStage[];
  readonly rounds: number;
  /** The agent that works on it, or did last. */
  readonly agent: { readonly id: string; readonly status: string; readonly lastLine: string | null } | null;
  readonly tokens: number;
  readonly costMillicents: number;
  /** Tokens without a known price, which the cost does not include. */
  readonly unpricedTokens: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Set only if the project has several hosts. */
  readonly host?: string;
}

export interface WorkParams {
  readonly show: 'running' | 'all';
  /** The range of rows on the screen; only these are built. */
  readonly from: number;
  readonly to: number;
  /** The key of a row whose position is requested. */
  readonly chosen?: string;
}

export interface WorkView {
  readonly total: number;
  readonly from: number;
  readonly rows: readonly WorkRow[];
  readonly counts: Readonly<Record<WorkGroup, number>>;
  readonly chosenAt: number | null;
}

/** Lists work: first what runs, then what waits for a person, then what ended last. */
export function viewWork(state: State, { show, from, to, chosen }: WorkParams): WorkView {
  const all = listBriefs(state);
  const counts = { running: 0, waiting: 0, ended: 0 };
  for (const { group } of all) counts[group] += 1;
  const shown = show === 'all' ? all : all.filter(({ group }) => group !== 'ended');
  shown.sort(compareBriefs);
  const at = shown.findIndex(({ key }) => key === chosen);
  const rows = shown.slice(from, to).map((brief) => brief.build());
  return { total: shown.length, from, rows, counts, chosenAt: at === -1 ? null : at };
}

interface Brief {
  readonly key: string;
  readonly group: WorkGroup;
  /** The sort key: newest first; for waiting runs, oldest first. */
  readonly at: string;
  readonly build: () => WorkRow;
}

function compareBriefs(a: Brief, b: Brief): number {
  const order = WORK_GROUPS.indexOf(a.group) - WORK_GROUPS.indexOf(b.group);
  if (order !== 0) return order;
  const later = a.at < b.at ? 1 : a.at > b.at ? -1 : a.key < b.key ? 1 : -1;
  return a.group === 'waiting' ? -later : later;
}

function listBriefs(state: State): Brief[] {
  const agents = newestByTask(state);
  const pipelines = newestPipelines(state);
  const briefs: Brief[] = [];
  for (const task of state.tasks.values()) {
    const brief = taskBrief(state, task, agents.get(task.id), pipelines.get(task.id));
    if (brief !== undefined) briefs.push(brief);
  }
  for (const run of state.pipelines.values())
    if (run.parent === null && !hasTask(state, run)) briefs.push(pipelineBrief(state, run));
  for (const run of state.agents.values())
    if (run.owner === null && !hasTask(state, run)) briefs.push(agentBrief(state, run));
  return briefs;
}

function hasTask({ tasks }: State, { task }: Pick<AgentRun, 'task'>): boolean {
  return task !== null && tasks.has(task.task_id);
}

/** The newest agent of each task; agents are in the order of their requests. */
function newestByTask({ agents }: State): ReadonlyMap<string, AgentRun> {
  const newest = new Map<string, AgentRun>();
  for (const agent of agents.values()) {
    const { task } = agent;
    const known = task === null ? undefined : newest.get(task.task_id);
    // A working agent precedes a newer one that has ended.
    if (task !== null && (known === undefined || known.outcome !== null || agent.outcome === null))
      newest.set(task.task_id, agent);
  }
  return newest;
}

function newestPipelines({ pipelines }: State): ReadonlyMap<string, PipelineRun> {
  const newest = new Map<string, PipelineRun>();
  for (const run of pipelines.values()) if (run.task !== null && run.parent === null) newest.set(run.task.task_id, run);
  return newest;
}

/** Returns undefined for a task that only waits in the backlog. */
function taskBrief(state: State, task: Task, agent?: AgentRun, pipeline?: PipelineRun): Brief | undefined {
  const { id, flow, epoch, claim } = task;
  if (flow.mode === null && epoch === 0) return undefined;
  const { spans = [], older } = state.timelines.get(id) ?? {};
  const last = spans.at(-1);
  if (last === undefined) return undefined;
  const outlook = taskOutlook(state, task);
  const isEnded = isOver(last.activity);
  const group = isEnded ? 'ended' : outlook.state === 'waiting' ? 'waiting' : 'running';
  if (flow.mode === null && group === 'running' && claim === null) return undefined;
  const startedAt = flow.startedAt ?? older?.from ?? spans[0]?.from ?? last.from;
  const key = `task:${id}`;
  const build = (): WorkRow => ({
    key,
    kind: flow.mode === null ? 'task' : 'workflow',
    id,
    title: task.title,
    group,
    state: group === 'waiting' ? (last.activity === 'blocked' ? 'blocked' : 'waiting') : last.activity,
    reason: outlook.reason,
    decisionId: outlook.decisionIds[0] ?? null,
    stages:
      pipeline !== undefined && flow.mode === null && !isEnded
        ? pipelineStages(state, pipeline)
        : taskStages(state, task),
    rounds: flow.rounds,
    agent: agentOf(agent),
    ...spentOn(state.accounts.get(accountKey('task', id)) ?? NO_SPENDING),
    startedAt,
    endedAt: isEnded ? last.from : null,
    ...hostPart(state, { host: claim?.host ?? null }, claim !== null),
  });
  return { key, group, at: group === 'running' ? startedAt : last.from, build };
}

function pipelineBrief(state: State, run: PipelineRun): Brief {
  const status = overallPipelineStatus(state, run);
  const group = run.outcome !== null ? 'ended' : status === 'waiting' ? 'waiting' : 'running';
  const key = `pipeline:${run.id}`;
  const build = (): WorkRow => {
    const decision = findPipelineDecision(state, run);
    return {
      key,
      kind: 'pipeline',
      id: run.id,
      title: run.name,
      group,
      state: status,
      reason: decision?.title ?? run.reason ?? run.step?.reason ?? null,
      decisionId: decision?.id ?? null,
      stages: pipelineStages(state, run),
      rounds: 0,
      agent: agentOf(findPipelineAgent(state, run)),
      ...spentOn(run.spent),
      startedAt: run.startedAt,
      endedAt: run.endedAt,
      ...hostPart(state, run),
    };
  };
  const at = run.endedAt ?? (group === 'waiting' ? (run.step?.since ?? run.startedAt) : run.startedAt);
  return { key, group, at, build };
}

function agentBrief(state: State, run: AgentRun): Brief {
  const decision = state.decisions.get(run.parked ?? '');
  const group = run.outcome !== null ? 'ended' : run.parked === null ? 'running' : 'waiting';
  const endedAt = run.outcome === null ? null : (run.exit?.at ?? run.since);
  const key = `agent:${run.id}`;
  const build = (): WorkRow => ({
    key,
    kind: 'agent',
    id: run.id,
    title: run.plan.name,
    group,
    state: agentStatus(run),
    reason: decision?.title ?? run.reason,
    decisionId: decision?.id ?? null,
    stages: agentStages(run),
    rounds: 0,
    agent: agentOf(run),
    ...spentOn(agentSpending(run)),
    startedAt: run.requestedAt,
    endedAt,
    ...hostPart(state, run),
  });
  return { key, group, at: endedAt ?? (group === 'waiting' ? run.since : run.requestedAt), build };
}

/** The newest agent of the pipeline, including nested pipelines. */
function findPipelineAgent(state: State, run: PipelineRun): AgentRun | undefined {
  let newest: AgentRun | undefined;
  for (const agent of state.agents.values())
    if (agent.owner !== null && pipelinesAround(state, agent).some(({ id }) => id === run.id)) newest = agent;
  return newest;
}

function agentOf(run: AgentRun | undefined): WorkRow['agent'] {
  if (run === undefined) return null;
  return { id: run.id, status: agentStatus(run), lastLine: lastLine(run.exit?.output ?? null) };
}

const LINE_CHARACTERS = 300;

/** The last line with a word in it; null if there is none, or if it is for programs. */
export function lastLine(output: string | null): string | null {
  const line = (output ?? '').trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' || line.startsWith('{') ? null : line.slice(0, LINE_CHARACTERS);
}

function spentOn(spent: Spending): Pick<WorkRow, 'tokens' | 'costMillicents' | 'unpricedTokens'> {
  return { tokens: tokensIn(spent), costMillicents: spent.cost_millicents, unpricedTokens: spent.unpriced_tokens };
}

function hostPart(state: State, run: { readonly host: string | null }, isKnown = true): { readonly host?: string } {
  const host = state.hosts.size < 2 || !isKnown ? undefined : hostOf(run, state);
  return host === undefined ? {} : { host };
}
