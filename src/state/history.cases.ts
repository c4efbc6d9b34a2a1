import type { Phase } from '../protocol/phase.ts';
import { CLAIM_ENDS, type Event, type RecordedEvent } from './event.ts';

/**
 * Checks a ledger without using the fold, and returns the first violation of an invariant. Entries of one command come
 * together.
 */
export function findFault(commands: readonly (readonly RecordedEvent[])[]): string | undefined {
  const tasks = new Map<string, History>();
  for (const entries of commands) {
    for (const entry of entries) {
      if (!('task_id' in entry.data) || typeof entry.data.task_id !== 'string') continue;
      const { task_id: id } = entry.data;
      const task = tasks.get(id) ?? {
        phase: null,
        epoch: 0,
        live: null,
        held: null,
        records: [],
        principal: '',
        authors: new Set<string>(),
        approvedBy: null,
        sessions: new Set<string>(),
      };
      tasks.set(id, task);
      const fault = follow(task, entry, entries);
      if (fault !== undefined) return `${entry.type} of ${id} at ${entry.seq}: ${fault}`;
    }
  }
  return undefined;
}

interface History {
  phase: Phase | null;
  epoch: number;
  live: number | null;
  held: string | null;
  records: (number | null)[];
  /** The principal of the newest claim. */
  principal: string;
  /** The principals of claims in IMPLEMENTATION. */
  readonly authors: Set<string>;
  /** The principal whose session moved the task to READY_FOR_MERGE, while it is in that phase. */
  approvedBy: string | null;
  readonly sessions: Set<string>;
}

const JUDGED: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);
const ENDS: ReadonlySet<Event['type']> = new Set(Object.values(CLAIM_ENDS));

function follow(task: History, entry: RecordedEvent, together: readonly RecordedEvent[]): string | undefined {
  const { type, data } = entry;
  if (type === 'TaskCreated') {
    if (task.phase !== null) return 'made twice';
    task.phase = data.phase;
  } else if (type === 'TaskClaimed') {
    if (task.live !== null) return 'a second live claim';
    if (data.epoch <= task.epoch) return 'the epoch does not grow';
    task.epoch = data.epoch;
    task.live = data.epoch;
    task.principal = data.principal;
    if (task.phase === 'IMPLEMENTATION') task.authors.add(data.principal);
  } else if (type === 'MergeRequested') {
    // The merge holds the handoff, and delivers or drops it in the end.
    if (data.handoff?.handoff_id === task.held) task.held = null;
  } else if (ENDS.has(type) && 'epoch' in data) {
    if (task.live !== data.epoch) return 'the claim has ended before';
    if (task.held !== null) return 'the handoff it held has vanished';
    task.live = null;
  } else if (type === 'ThoughtRecorded' && data.record.status !== 'todo') task.records.push(data.epoch);
  else if (type === 'TaskReinstated') task.records = [];
  else if (type === 'HandoffHeld') task.held = data.handoff_id;
  else if ((type === 'HandoffDelivered' || type === 'HandoffDropped') && data.handoff_id === task.held)
    task.held = null;
  else if (type === 'PhaseMoved') {
    if (data.from !== task.phase) return `it was in ${task.phase}`;
    task.phase = data.to;
    const isVerdict = data.to === 'READY_FOR_MERGE' || (data.to === 'COMPLETED' && JUDGED.has(data.from));
    const isBySession = entry.actor.startsWith('session:') && data.from !== data.to;
    // A person may complete a task that another principal has approved.
    const isAgreed =
      task.approvedBy !== null && !task.authors.has(task.approvedBy) && task.principal.startsWith('operator:');
    const isOwn = isVerdict && isBySession && task.authors.has(task.principal);
    if (isOwn && !(data.from === 'READY_FOR_MERGE' && isAgreed)) return 'approved by its author';
    task.approvedBy = data.to === 'READY_FOR_MERGE' && isBySession ? task.principal : null;
    if (data.to === 'BLOCKED' && task.live !== null) return 'somebody still holds it';
    if (data.to === 'COMPLETED' && data.from !== 'COMPLETED') return findUnaccounted(task, entry, together);
  }
  return undefined;
}

/**
 * A completed task needs a record under the claim that ends with it, or an operator's record since the work began, or a
 * waiver.
 */
function findUnaccounted(
  { records, live }: History,
  { actor }: RecordedEvent,
  together: readonly RecordedEvent[],
): string | undefined {
  if (live !== null) return 'done, and somebody still holds it';
  if (together.some(({ type }) => type === 'WritebackWaived')) return undefined;
  if (actor.startsWith('operator:')) return records.length > 0 ? undefined : 'done without any record';
  const ended = together.find(({ type }) => type === 'ClaimCompleted')?.data;
  const epoch = ended !== undefined && 'epoch' in ended ? (ended.epoch ?? 0) : 0;
  return records.includes(epoch) ? undefined : 'done without a record under its claim';
}
