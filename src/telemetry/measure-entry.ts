import { HOW_CLAIM_ENDED, type Events, type RecordedEvent } from '../state/event.ts';
import { BoundedMap } from './bounded-map.ts';
import type { InstrumentName, Measurement } from './instruments.ts';
import { labelValue } from './label-value.ts';
import { TELEMETRY_LIMITS } from './limits.ts';

interface Timed {
  readonly name: string;
  readonly at: string;
}

/** An agent's counted totals, and its name in the runbook. */
export interface CountedAgent {
  readonly name: string;
  readonly used: Pick<Events['SessionUsed'], 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'cost_millicents'>;
}

/**
 * The times of checks. Baton runs its checks of a commit one after the other; those of other systems begin with the
 * request.
 */
interface CheckTimes {
  readonly requestedAt: string;
  readonly freeAt: string;
  readonly own: ReadonlySet<string>;
}

/** The open work of one project, as far as its measurements need it. */
export interface UnderWay {
  readonly project: string;
  readonly agents: BoundedMap<CountedAgent>;
  /** The role of each live claim, by task id. */
  readonly claims: BoundedMap<string>;
  /** The time since when a task that was handed on could have been claimed, by task id. */
  readonly handoffs: BoundedMap<string>;
  readonly decisions: BoundedMap<Timed>;
  readonly checks: BoundedMap<CheckTimes>;
  readonly pipelines: BoundedMap<Timed>;
}

export function nothingUnderWay(project: string): UnderWay {
  const map = <V>(): BoundedMap<V> => new BoundedMap<V>(TELEMETRY_LIMITS.underWay);
  return {
    project,
    agents: map(),
    claims: map(),
    handoffs: map(),
    decisions: map(),
    checks: map(),
    pipelines: map(),
  };
}

export const NOTHING_USED: CountedAgent['used'] = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost_millicents: 0,
};

/** Folds an entry into `now`. Returns the measurements to add to the metrics. */
export function measureEntry(now: UnderWay, recorded: RecordedEvent): readonly Measurement[] {
  const { project } = now;
  const count = (instrument: InstrumentName, labels: Record<string, string>, value = 1): Measurement => ({
    instrument,
    value,
    labels: { project, ...labels },
  });
  const { type, data, at } = recorded;
  const how = HOW_CLAIM_ENDED.get(type);
  if (how !== undefined && 'task_id' in data)
    return [count('baton.claims.ended', { role: labelValue(now.claims.take(data.task_id ?? '')), outcome: how })];
  switch (type) {
    case 'TaskClaimed': {
      const role = labelValue(data.role);
      now.claims.set(data.task_id, role);
      const since = now.handoffs.take(data.task_id);
      const claimed = count('baton.claims', { role });
      return since === undefined
        ? [claimed]
        : [claimed, count('baton.handoff.latency', { role }, secondsBetween(since, at))];
    }
    case 'HandoffDelivered':
      now.handoffs.set(data.task_id, at);
      return [];
    case 'TaskFreed':
      restart(now, data.task_id, at);
      return [];
    case 'PhaseMoved':
      if (data.to !== 'BLOCKED') restart(now, data.task_id, at);
      else now.handoffs.take(data.task_id);
      return data.to === 'BLOCKED' ? [count('baton.tasks.blocked', { cause: data.cause })] : [];
    case 'AgentRequested':
      now.agents.set(data.agent_id, { name: labelValue(data.plan.name), used: NOTHING_USED });
      return [];
    case 'AgentBlocked':
      return [count('baton.stops.blocked', { agent: now.agents.get(data.agent_id)?.name ?? labelValue(null) })];
    case 'SessionUsed':
      return measureUsage(now, data).map(([instrument, labels, value]) => count(instrument, labels, value));
    case 'DecisionOpened':
      now.decisions.set(data.decision_id, { name: data.source, at });
      return [count('baton.decisions.opened', { source: data.source })];
    case 'DecisionResolved':
    case 'DecisionWithdrawn': {
      const opened = now.decisions.take(data.decision_id);
      const source = labelValue(opened?.name);
      const isResolved = type === 'DecisionResolved';
      const closed = count('baton.decisions.closed', { source, outcome: isResolved ? 'resolved' : 'withdrawn' });
      if (!isResolved || opened === undefined) return [closed];
      return [closed, count('baton.decision.wait', { source }, secondsBetween(opened.at, at))];
    }
    case 'ChecksRequested': {
      const own = new Set(data.checks.flatMap(({ name, run }) => (run === undefined ? [] : [name])));
      now.checks.set(data.checks_id, { requestedAt: at, freeAt: at, own });
      return [];
    }
    case 'CheckFinished': {
      const times = now.checks.get(data.checks_id);
      if (times === undefined) return [];
      const isOwn = times.own.has(data.name);
      if (isOwn) now.checks.set(data.checks_id, { ...times, freeAt: at });
      const labels = { check: labelValue(data.name), outcome: data.outcome };
      const since = isOwn ? times.freeAt : times.requestedAt;
      return [count('baton.check.duration', labels, secondsBetween(since, at))];
    }
    case 'ChecksFinished':
      now.checks.take(data.checks_id);
      return [];
    case 'PipelineStarted':
      now.pipelines.set(data.pipeline_id, { name: labelValue(data.name), at });
      return [];
    case 'PipelineFinished': {
      const started = now.pipelines.take(data.pipeline_id);
      if (started === undefined) return [];
      const labels = { pipeline: started.name, outcome: data.outcome };
      return [count('baton.pipeline.duration', labels, secondsBetween(started.at, at))];
    }
    default:
      return [];
  }
}

/** Restarts the wait for a session: checks, a merge or a person came between the handoff and the next role. */
function restart({ handoffs }: UnderWay, taskId: string, at: string): void {
  if (handoffs.get(taskId) !== undefined) handoffs.set(taskId, at);
}

/** Measures usage: an entry has the totals of its agent, of which only the increase counts. */
function measureUsage(
  { agents }: UnderWay,
  data: Events['SessionUsed'],
): (readonly [InstrumentName, Record<string, string>, number])[] {
  const { name, used } = agents.get(data.agent_id) ?? { name: labelValue(null), used: NOTHING_USED };
  const { input_tokens, output_tokens, cached_tokens, cost_millicents } = data;
  agents.set(data.agent_id, { name, used: { input_tokens, output_tokens, cached_tokens, cost_millicents } });
  const cost = (cost_millicents ?? 0) - (used.cost_millicents ?? 0);
  const measured = [
    ['baton.tokens', { agent: name, kind: 'input' }, input_tokens - used.input_tokens],
    ['baton.tokens', { agent: name, kind: 'output' }, output_tokens - used.output_tokens],
    ['baton.tokens', { agent: name, kind: 'cached' }, cached_tokens - used.cached_tokens],
    ['baton.cost', { agent: name }, cost / MILLICENTS_PER_DOLLAR],
  ] as const;
  return measured.filter(([, , value]) => value > 0);
}

const MILLICENTS_PER_DOLLAR = 100_000;

/** The seconds between two times; never negative, because clocks can be set back. */
function secondsBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1000;
}
