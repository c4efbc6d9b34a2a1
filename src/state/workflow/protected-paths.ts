import { event, type Event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkflowEvents } from './workflow-event.ts';

/** The protected paths that a branch changes: measured before a review, and again before a merge. */
export interface MeasureProtected extends ProtectedMeasured {
  /** The merge that waits for the measurement; null before a review. */
  readonly merge_id: string | null;
}

/** Records the measurement. A merge that changes protected paths is held until a person agrees to this commit. */
export function decideMeasureProtected(state: State, command: MeasureProtected): Outcome<null> {
  const { merge_id, ...measured } = command;
  const task = state.tasks.get(measured.task_id);
  if (task === undefined) return decided([], null);
  const isKnown = isSame(task.flow.protected, measured);
  const events: Event[] = isKnown ? [] : [event('ProtectedMeasured', measured)];
  const { merge } = task.flow;
  if (merge === null || merge.id !== merge_id || merge.head !== measured.head) return decided(events, null);
  const isFree = measured.paths.length === 0 || task.flow.agreed === measured.head;
  if (isFree) return decided(events, null);
  const { id, head, handoff } = merge;
  return decided([...events, event('MergeHeld', { merge_id: id, task_id: task.id, head, handoff })], null);
}

export function needsAgreement({ flow }: Pick<Task, 'flow'>, head: string): boolean {
  const { protected: measured, agreed } = flow;
  return measured !== null && measured.head === head && measured.paths.length > 0 && agreed !== head;
}

type ProtectedMeasured = WorkflowEvents['ProtectedMeasured'];

/** A branch that never changed a protected path needs no record. */
function isSame(known: Task['flow']['protected'], { head, base, paths }: ProtectedMeasured): boolean {
  if (known === null) return paths.length === 0;
  return known.head === head && known.base === base && known.paths.join('\0') === paths.join('\0');
}
