import type { RecordedEvent } from '../event.ts';
import type { State } from '../state.ts';
import type { Task } from './task.ts';

/**
 * The tasks for which a condition holds, such as a live claim. Updated with each recorded entry, so that periodic work
 * does not look at closed and waiting tasks. The condition must depend on the task alone.
 */
export class TaskIndex {
  readonly #state: Pick<State, 'tasks'>;
  readonly #isIn: (task: Task) => boolean;
  readonly #ids = new Set<string>();

  constructor(state: Pick<State, 'tasks'>, isIn: (task: Task) => boolean) {
    this.#state = state;
    this.#isIn = isIn;
    for (const task of state.tasks.values()) if (isIn(task)) this.#ids.add(task.id);
  }

  follow(recorded: readonly RecordedEvent[]): void {
    for (const { data } of recorded) {
      const id = 'task_id' in data ? data.task_id : undefined;
      const task = id === undefined || id === null ? undefined : this.#state.tasks.get(id);
      if (task === undefined) continue;
      if (this.#isIn(task)) this.#ids.add(task.id);
      else this.#ids.delete(task.id);
    }
  }

  /** The state may be ahead of the ledger, so each task is checked again. */
  *[Symbol.iterator](): Generator<Task> {
    for (const id of this.#ids) {
      const task = this.#state.tasks.get(id);
      if (task !== undefined && this.#isIn(task)) yield task;
    }
  }
}

export function isClaimed({ claim }: Task): boolean {
  return claim !== null;
}
