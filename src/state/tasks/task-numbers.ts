import { type LastNumbers, takeNumbers, type TaskNumbers } from '../../ledger/format/task-numbers.ts';
import { type EventOf, type EventType, type RecordedEvent, tasksAbout } from '../event.ts';
import { NUMBERED_LEVEL } from '../fleet/entry-levels.ts';
import { findFleet, type FleetState } from '../fleet/fleet.ts';
import { UnreadableEntry } from '../recorded-event.ts';

export interface NumberState {
  /** How many numbered entries each task has. Entries of version 1 have no number. */
  readonly taskNumbers: LastNumbers;
  /** The number of each task's newest `TaskCounted`. */
  readonly counted: Map<string, number>;
}

/**
 * Numbers the next entry within its tasks; undefined while a host of the fleet cannot read version 2. The number depends
 * on the head that the decision saw, so a commit on another head is decided and numbered again.
 */
export function numberEntry<T extends EventType>(
  state: NumberState & Pick<FleetState, 'fleet'>,
  next: EventOf<T>,
): TaskNumbers | undefined {
  const { taskNumbers } = state;
  const level = findFleet(state)?.level ?? NUMBERED_LEVEL;
  if (level < NUMBERED_LEVEL && taskNumbers.size === 0) return undefined;
  return Object.fromEntries(tasksAbout(next).map((id) => [id, (taskNumbers.get(id) ?? 0) + 1]));
}

/**
 * Takes the numbers of an entry into the state. Throws `UnreadableEntry` if they do not follow. The page's state lacks
 * the numbers of tasks that have no new entry, so the first number of a task is checked only by `baton ledger verify`.
 */
export function takeEntryNumbers(
  { taskNumbers }: NumberState,
  entry: { readonly seq: number; readonly type: string; readonly tasks?: TaskNumbers },
): void {
  const wrong = entry.tasks && takeNumbers(taskNumbers, entry.tasks, false);
  if (wrong !== undefined)
    throw new UnreadableEntry(entry, `it is not entry ${wrong.expected} of the task ${wrong.taskId}`);
}

/** Folds the numbers of an entry that this daemon decides, and counts. */
export function evolveNumbers(state: NumberState, recorded: RecordedEvent): void {
  takeEntryNumbers(state, recorded);
  if (recorded.type === 'TaskCounted') state.counted.set(recorded.data.task_id, recorded.data.last);
}
