import { event, type Event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkflowEvents } from './workflow-event.ts';

/** Which protected paths a branch changes, as Baton measured it: before a review, and again before a merge. */
export interface MeasureProtected extends Omit<WorkflowEvents['ProtectedMeasured'], 'task_id'> {
  readonly taskId: string;
  /** The merge that waits for the answer; null for a review. */
  readonly mergeId: string | null;
}

/** Puts the measurement on record. A merge that changes protected paths is held until a person has agreed to this commit. */
export function decideMeasureProtected(state: State, command: MeasureProtected): Outcome<null> {
  const { taskId, mergeId, ...measured } = command;
  const task = state.tasks.get(taskId);
  if (task === undefined) return decided([], null);
  const isKnown = isSame(task.flow.protected, measured);
  const events: Event[] = isKnown ? [] : [event('ProtectedMeasured', { task_id: taskId, ...measured })];
  const { merge } = task.flow;
  if (merge === null || merge.id !== mergeId || merge.head !== measured.head) return decided(events, null);
  const isFree = measured.paths.length === 0 || task.flow.agreed === measured.head;
  if (isFree) return decided(events, null);
  const { id: merge_id, head, handoff } = merge;
  return decided([...events, event('MergeHeld', { merge_id, task_id: taskId, head, handoff })], null);
}

/** Whether a person has to agree before this commit is merged. */
export function needsAgreement({ flow }: Pick<Task, 'flow'>, head: string): boolean {
  const { protected: measured, agreed } = flow;
  return measured !== null && measured.head === head && measured.paths.length > 0 && agreed !== head;
}

type ProtectedMeasurement = Omit<WorkflowEvents['ProtectedMeasured'], 'task_id'>;

/** Nothing is on record about a branch that never changed a protected path. */
function isSame(known: Task['flow']['protected'], { head, base, paths }: ProtectedMeasurement): boolean {
  if (known === null) return paths.length === 0;
  return known.head === head && known.base === base && known.paths.join('\0') === paths.join('\0');
}
