import { HOW_CLAIM_ENDED, type RecordedEvent } from '../event.ts';
import type { Runs } from '../runs/runs.ts';
import type { Task } from '../tasks/task.ts';
import { type CurrentSpan, findSpan } from './find-span.ts';
import { KEPT_SPANS, type Span, spanMs, type Timeline, type Timelines } from './timeline.ts';

interface TimelineState extends Runs, Timelines {
  readonly tasks: Map<string, Task>;
}

/**
 * Updates the timelines. Called after tasks and runs have folded the entry. `dependantsOf` lists the tasks that wait
 * for a task.
 */
export function evolveTimelines(
  state: TimelineState,
  recorded: RecordedEvent,
  dependantsOf: (id: string) => Iterable<string>,
): void {
  const id = taskOf(state, recorded);
  if (id === undefined || id === null) return;
  const before = state.timelines.get(id) ?? EMPTY;
  update(state, id, recorded.at, before, note(before, recorded));
  if (recorded.type !== 'PhaseMoved' || (recorded.data.from === 'COMPLETED') === (recorded.data.to === 'COMPLETED'))
    return;
  for (const each of dependantsOf(id)) update(state, each, recorded.at, state.timelines.get(each) ?? EMPTY);
}

const EMPTY: Timeline = { spans: [] };

/** The task whose activity the entry may change; undefined for the many entries that never change one. */
function taskOf({ tasks, agents, decisions }: TimelineState, { type, data }: RecordedEvent) {
  switch (type) {
    case 'AgentParked': {
      // A pipeline may continue after the claim under which it began.
      const { task_id = '', session_id = null } = agents.get(data.agent_id)?.task ?? {};
      return tasks.get(task_id)?.claim?.sessionId === session_id ? task_id : undefined;
    }
    case 'AgentUnparked':
    case 'AgentEnded':
      return agents.get(data.agent_id)?.task?.task_id;
    case 'DecisionResolved':
    case 'DecisionWithdrawn':
      return decisions.get(data.decision_id)?.taskId;
    case 'HandoffHeld':
    case 'HandoffDelivered':
    case 'HandoffDropped':
    case 'ThoughtRecorded':
    case 'TaskCounted':
    case 'TaskProgressed':
    case 'NoteAdded':
    case 'ResultSubmitted':
    case 'AgentSessionCompleted':
    case 'SessionPrepared':
    case 'SessionMeasured':
    case 'CheckFinished':
    case 'MergePrepared':
      return undefined;
    default:
      return 'task_id' in data ? data.task_id : undefined;
  }
}

function update(state: TimelineState, id: string, at: string, before: Timeline, noted = before): void {
  const task = state.tasks.get(id);
  if (task === undefined) return;
  const after = openSpan(noted, findSpan(state.tasks, task, noted), at);
  if (after !== before) state.timelines.set(id, after);
}

/** Records what the entry adds to the current span, and whether a person is awaited. */
function note(timeline: Timeline, { type, data }: RecordedEvent): Timeline {
  const how = HOW_CLAIM_ENDED.get(type);
  if (how !== undefined && 'epoch' in data) {
    const { parked: _, ...rest } = timeline;
    return withOutcome(rest, how, ({ epoch }) => epoch === data.epoch);
  }
  switch (type) {
    case 'ChecksFinished':
      return withOutcome(timeline, data.outcome, ({ activity }) => activity === 'checks');
    case 'MergeFinished':
      return withOutcome(timeline, data.outcome, ({ gate }) => gate === 'merge');
    case 'DecisionOpened':
      return withId(timeline, 'asked', data.decision_id);
    case 'DecisionResolved':
    case 'DecisionWithdrawn':
      return withoutId(timeline, 'asked', data.decision_id);
    case 'AgentParked':
      return withId(timeline, 'parked', data.agent_id);
    case 'AgentUnparked':
    case 'AgentEnded':
      return withoutId(timeline, 'parked', data.agent_id);
    default:
      return timeline;
  }
}

/** A waiting agent may be parked again for another question. */
function withId(timeline: Timeline, name: 'asked' | 'parked', id: string): Timeline {
  return { ...timeline, [name]: [...new Set([...(timeline[name] ?? []), id])] };
}

function withoutId(timeline: Timeline, name: 'asked' | 'parked', id: string): Timeline {
  if (timeline[name]?.includes(id) !== true) return timeline;
  const { [name]: known = [], ...rest } = timeline;
  const left = known.filter((each) => each !== id);
  return left.length === 0 ? rest : { ...rest, [name]: left };
}

function withOutcome(timeline: Timeline, outcome: string, isAbout: (span: Span) => boolean): Timeline {
  const last = timeline.spans.at(-1);
  if (last === undefined || !isAbout(last)) return timeline;
  return { ...timeline, spans: [...timeline.spans.slice(0, -1), { ...last, outcome }] };
}

/** Opens a span. Nothing changes if the task has the same activity and stage as before. */
function openSpan(timeline: Timeline, now: CurrentSpan, at: string): Timeline {
  const { spans } = timeline;
  const last = spans.at(-1);
  if (last !== undefined && isSame(last, now)) return timeline;
  if (last?.from !== at) return keepNewest({ ...timeline, spans: [...spans, { ...now, from: at }] });
  // Entries of one commit have the same time, so a span between two of them has no length and is dropped.
  const before = spans.slice(0, -1);
  const resumed = before.at(-1);
  const isResumed = resumed !== undefined && isSame(resumed, now);
  return { ...timeline, spans: isResumed ? before : [...before, { ...now, from: at }] };
}

function isSame(one: CurrentSpan, other: CurrentSpan): boolean {
  return one.activity === other.activity && one.epoch === other.epoch && stageName(one) === stageName(other);
}

/** The stage of a span: a role, `ci`, `merge`, or the phase if the task has no roles. */
export function stageName({ gate, role, phase }: Pick<Span, 'gate' | 'role' | 'phase'>): string {
  return gate ?? role ?? (phase === 'READY_FOR_REVIEW' ? 'REVIEW' : phase);
}

function keepNewest(timeline: Timeline): Timeline {
  const { spans, older } = timeline;
  const [oldest, second] = spans;
  if (spans.length <= KEPT_SPANS || oldest === undefined || second === undefined) return timeline;
  const ms = (older?.ms[oldest.activity] ?? 0) + spanMs(oldest.from, second.from);
  const added = { from: older?.from ?? oldest.from, ms: { ...older?.ms, [oldest.activity]: ms } };
  return { ...timeline, spans: spans.slice(1), older: added };
}
