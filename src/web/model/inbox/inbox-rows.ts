import type { AgentView, AttentionView, DecisionView, PipelineView, StatusView } from '../../../api/run-views.ts';
import type { StageView, WorkflowBrief } from '../../../api/stage-views.ts';

export type NeedsRow =
  | { readonly kind: 'decision'; readonly key: string; readonly decision: DecisionView }
  | { readonly kind: 'attention'; readonly key: string; readonly item: AttentionView };

/**
 * Lists what needs a person: decisions, budgets, then the rest in the daemon's order. A decision keeps its place while
 * its answer is not in effect yet, so that no row moves when a person answers.
 */
export function listNeeds({ needs_you, answered, attention }: Needs): readonly NeedsRow[] {
  const asked = [...needs_you, ...answered].toSorted(
    (a, b) => Number(isBudget(a)) - Number(isBudget(b)) || compare(a.opened_at, b.opened_at) || compare(a.id, b.id),
  );
  const keys = new Map<string, number>();
  return [
    ...asked.map((decision): NeedsRow => ({ kind: 'decision', key: decision.id, decision })),
    ...attention.map((item): NeedsRow => ({ kind: 'attention', key: numbered(keys, attentionKey(item)), item })),
  ];
}

type Needs = Pick<StatusView, 'needs_you' | 'answered' | 'attention'>;

function isBudget({ source }: DecisionView): boolean {
  return source === 'budget';
}

/**
 * The key in the address. Not the title, which may count seconds, but the task and the command, which do not change.
 */
export function attentionKey({ kind, task_id, next }: AttentionView): string {
  return `${kind}:${task_id ?? next}`;
}

function numbered(seen: Map<string, number>, key: string): string {
  const count = (seen.get(key) ?? 0) + 1;
  seen.set(key, count);
  return count === 1 ? key : `${key}:${count}`;
}

export interface RunningRow {
  readonly kind: 'workflow' | 'pipeline' | 'agent';
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly since: string;
  readonly stages: readonly StageView[];
}

/**
 * One row for each running workflow, pipeline and lone agent. Their order does not depend on their activity, so rows do
 * not move.
 */
export function listRunning({ workflows, pipelines, agents }: Running): readonly RunningRow[] {
  const own = new Set(workflows.map(({ task_id }) => task_id));
  const isElsewhere = ({ task_id }: PipelineView | AgentView): boolean => task_id !== null && own.has(task_id);
  return [
    ...workflows.filter(({ activity }) => ACTIVE.has(activity)).map(workflowRow),
    ...pipelines
      .filter((run) => run.parent === null && run.status === 'running' && !isElsewhere(run))
      .map((run): RunningRow => ({ kind: 'pipeline', ...named(run), since: run.started_at })),
    ...agents
      .filter((run) => run.pipeline_id === null && run.status !== 'escalated' && !isElsewhere(run))
      .map((run): RunningRow => ({ kind: 'agent', ...named(run), since: run.requested_at })),
  ].toSorted((a, b) => compare(a.kind, b.kind) * -1 || compareIds(a.id, b.id));
}

type Running = Pick<StatusView, 'workflows' | 'pipelines' | 'agents'>;

const ACTIVE: ReadonlySet<WorkflowBrief['activity']> = new Set(['running', 'checks', 'merging', 'queued']);

function workflowRow({ task_id: id, title, activity: state, since, stages }: WorkflowBrief): RunningRow {
  return { kind: 'workflow', id, title, state, since, stages };
}

function named({ id, name: title, status: state }: PipelineView | AgentView) {
  return { id, title, state, stages: [] };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares ids so that T9 comes before T10. */
function compareIds(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
