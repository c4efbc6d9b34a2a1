import type { StageView } from '../../../api/stage-views.ts';
import { type Activity, isOver } from '../../../protocol/phase.ts';
import { agentStatus } from '../../../state/runs/agent-run.ts';
import { pipelineStatus } from '../../../state/runs/pipeline-run.ts';
import type { State } from '../../../state/state.ts';
import { type Status, type Task, taskStatus } from '../../../state/tasks/task.ts';
import { listStages, listVisits, type Times } from '../../../state/timeline/visits.ts';
import type { PastState } from './past-states.ts';

/** A project's state after one entry. */
export interface PastView {
  readonly seq: number;
  readonly at: string;
  readonly tasks: Readonly<Record<Status, number>>;
  readonly workflows: Shown<PastWorkflow>;
  readonly agents: Shown<PastAgent>;
  readonly pipelines: Shown<PastPipeline>;
  readonly decisions: Shown<PastDecision>;
}

/** At most `MOST` items; `total` counts all. */
export interface Shown<T> {
  readonly total: number;
  readonly items: readonly T[];
}

interface PastWorkflow {
  readonly taskId: string;
  readonly title: string;
  readonly activity: Activity;
  readonly since: string;
  readonly stages: readonly StageView[];
}

interface PastAgent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly taskId: string | null;
  readonly since: string;
}

interface PastPipeline {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly step: string | null;
  readonly since: string;
}

interface PastDecision {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly taskId: string | null;
  readonly since: string;
}

const MOST = 50;

export function describePast({ state, seq, at }: PastState): PastView {
  return {
    seq,
    at,
    tasks: countTasks(state),
    workflows: listWorkflows(state, at),
    agents: listAgents(state),
    pipelines: listPipelines(state),
    decisions: listDecisions(state),
  };
}

function countTasks({ tasks }: State): Readonly<Record<Status, number>> {
  const counts = { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 };
  for (const task of tasks.values()) counts[taskStatus(task)] += 1;
  return counts;
}

function listWorkflows(state: State, at: string): Shown<PastWorkflow> {
  // The state does not contain the runbook's rules, so whether checks will follow is known only once any task had some.
  let hasChecks = false;
  const open: { readonly task: Task; readonly activity: Activity; readonly since: string }[] = [];
  for (const task of state.tasks.values()) {
    hasChecks ||= task.flow.checks !== null;
    const last = task.flow.mode === null ? undefined : state.timelines.get(task.id)?.spans.at(-1);
    if (last !== undefined && !isOver(last.activity)) open.push({ task, activity: last.activity, since: last.from });
  }
  return shown(newestFirst(open), ({ task, activity, since }) => {
    const visits = listVisits(state.timelines.get(task.id) ?? { spans: [] }, at);
    const stages = listStages(visits, { isWorkflow: true, hasChecks });
    return {
      taskId: task.id,
      title: task.title,
      activity,
      since,
      stages: stages.map(({ ms, ...stage }) => ({ ...stage, ...stageTimes(ms) })),
    };
  });
}

function stageTimes(ms: Times) {
  return {
    pending_ms: ms.pending ?? 0,
    queued_ms: ms.queued ?? 0,
    running_ms: ms.running ?? 0,
    checks_ms: ms.checks ?? 0,
    merging_ms: ms.merging ?? 0,
    waiting_ms: ms.waiting ?? 0,
    blocked_ms: ms.blocked ?? 0,
  };
}

function listAgents({ agents }: State): Shown<PastAgent> {
  const open = [...agents.values()].filter((run) => run.outcome === null || run.process === 'running');
  return shown(newestFirst(open.map((run) => ({ run, since: run.requestedAt }))), ({ run, since }) => ({
    id: run.id,
    name: run.plan.name,
    status: agentStatus(run),
    taskId: run.task?.task_id ?? null,
    since,
  }));
}

function listPipelines({ pipelines }: State): Shown<PastPipeline> {
  const open = [...pipelines.values()].filter(({ outcome }) => outcome === null);
  return shown(newestFirst(open.map((run) => ({ run, since: run.startedAt }))), ({ run, since }) => ({
    id: run.id,
    name: run.name,
    status: pipelineStatus(run),
    step: run.step?.name ?? null,
    since,
  }));
}

function listDecisions({ decisions }: State): Shown<PastDecision> {
  const open = [...decisions.values()].filter(({ result }) => result === null);
  const dated = open.map((decision) => ({ decision, since: decision.openedAt }));
  return shown(newestFirst(dated), ({ decision: { id, title, source, taskId }, since }) => ({
    id,
    title,
    source,
    taskId,
    since,
  }));
}

function newestFirst<T extends { readonly since: string }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0));
}

function shown<T, R>(items: readonly T[], describe: (item: T) => R): Shown<R> {
  return { total: items.length, items: items.slice(0, MOST).map(describe) };
}
