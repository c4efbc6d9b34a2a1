import { isOver } from '../../../protocol/phase.ts';
import type { AgentRun } from '../../../state/runs/agent-run.ts';
import type { Decision } from '../../../state/runs/decision.ts';
import type { State } from '../../../state/state.ts';
import { stageName } from '../../../state/timeline/evolve-timeline.ts';
import type { Span } from '../../../state/timeline/timeline.ts';
import { taskStages } from './run-stages.ts';
import { TIMED, type Timed } from '../strip.ts';
import { stackRows, type TimelineRow, type TimelineSegment } from './timeline-row.ts';

type Row = Omit<TimelineRow, 'round'>;

export interface TaskTimeline {
  readonly rows: readonly TimelineRow[];
  /** The start of the listed times; earlier ones are known only as sums. Null if all are listed. */
  readonly olderFrom: string | null;
}

/** A task's sessions, checks, merges and waits, stage by stage in the workflow's order. */
export function viewTaskTimeline(state: State, { taskId }: { readonly taskId: string }): TaskTimeline {
  const task = state.tasks.get(taskId);
  const timeline = state.timelines.get(taskId);
  if (task === undefined || timeline === undefined) return { rows: [], olderFrom: null };
  const attempts = listAttempts(timeline.spans);
  const agents = [...state.agents.values()].filter((agent) => agent.task?.task_id === taskId);
  const sessions = attempts.flatMap((attempt) => sessionRows(taskId, attempt, agents));
  const waits = [...state.decisions.values()]
    .filter((decision) => decision.taskId === taskId || agents.some(({ id }) => id === decision.agentId))
    .map((decision) => waitRow(decision, timeline.spans));
  const order = taskStages(state, task).map(({ name }) => name);
  return { rows: stackRows([...sessions, ...waits], order), olderFrom: timeline.older?.from ?? null };
}

interface Attempt {
  readonly stage: string;
  readonly spans: readonly TimelineSpan[];
}
type TimelineSpan = Span & { readonly to: string | null };

/**
 * Lists attempts: a claim with the queue before it, a run of the checks, or a merge. Queuing again after a claim starts
 * the next attempt.
 */
function listAttempts(spans: readonly Span[]): readonly Attempt[] {
  const attempts: Attempt[] = [];
  for (const [i, span] of spans.entries()) {
    if (isOver(span.activity)) continue;
    const next = { ...span, to: spans[i + 1]?.from ?? null };
    const open = attempts.at(-1);
    if (open !== undefined && continues(open, next))
      attempts[attempts.length - 1] = { ...open, spans: [...open.spans, next] };
    else attempts.push({ stage: stageName(span), spans: [next] });
  }
  return attempts;
}

function continues({ stage, spans }: Attempt, next: TimelineSpan): boolean {
  if (stage !== stageName(next) || spans.at(-1)?.to !== next.from) return false;
  const epoch = spans.findLast((span) => span.epoch !== undefined)?.epoch;
  if (epoch === undefined || epoch === next.epoch) return true;
  return next.epoch === undefined && next.activity !== 'queued' && next.activity !== 'pending';
}

/** Returns one row; with several agents under one claim, one more for each. */
function sessionRows(taskId: string, { stage, spans }: Attempt, all: readonly AgentRun[]): readonly Row[] {
  const [first] = spans;
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return [];
  const claim = spans.findLast(({ epoch }) => epoch !== undefined);
  const agents = claim === undefined ? [] : all.filter(({ task }) => task?.epoch === claim.epoch);
  const [only] = agents;
  const kind = first.gate === 'ci' ? 'checks' : first.gate === 'merge' ? 'merge' : claim ? 'session' : 'queue';
  const row: Row = {
    key: `${stage} ${first.from}`,
    kind,
    group: stage,
    label: claim === undefined || claim.holder === stage ? stage : `${stage} · ${claim.holder ?? ''}`,
    from: first.from,
    to: last.to,
    outcome: spans.findLast(({ outcome }) => outcome !== undefined)?.outcome ?? null,
    segments: spans.flatMap(segmentOf),
    ...(only !== undefined && agents.length === 1 ? { agentId: only.id } : {}),
    ...(only === undefined && claim?.epoch !== undefined ? { claim: `${taskId}:${claim.epoch}` } : {}),
  };
  return agents.length < 2 ? [row] : [row, ...agents.map((agent) => agentRow(stage, agent))];
}

function segmentOf({ activity, from, to }: TimelineSpan): readonly TimelineSegment[] {
  const timed = TIMED.find((each): each is Timed => each === activity);
  return timed === undefined ? [] : [{ activity: timed, from, to }];
}

function agentRow(group: string, { id, plan, owner, requestedAt, outcome, exit, since }: AgentRun): Row {
  const to = outcome === null ? null : (exit?.at ?? since);
  return {
    key: `agent ${id}`,
    kind: 'process',
    group,
    label: owner === null ? plan.name : `${owner.step} · ${plan.name}`,
    from: requestedAt,
    to,
    outcome,
    segments: [{ activity: 'running', from: requestedAt, to }],
    agentId: id,
  };
}

function waitRow({ id, title, openedAt, result }: Decision, spans: readonly Span[]): Row {
  const during = spans.findLast(({ from }) => from <= openedAt) ?? spans[0];
  const to = result?.at ?? null;
  return {
    key: `decision ${id}`,
    kind: 'wait',
    group: during === undefined ? 'decision' : stageName(during),
    label: title,
    from: openedAt,
    to,
    outcome: result === null ? null : result.kind === 'withdrawn' ? 'withdrawn' : result.action,
    segments: [{ activity: 'waiting', from: openedAt, to }],
    decisionId: id,
  };
}
