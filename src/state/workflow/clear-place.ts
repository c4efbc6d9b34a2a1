import { event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { WorkflowEvents } from './workflow-event.ts';

export type ClearPlace = Omit<WorkflowEvents['PlaceCleared'], 'task_id' | 'branch'> & { readonly taskId: string };

/** Records what became of the worktree and the branch of a cancelled task; nothing if the task was reinstated meanwhile. */
export function decideClearPlace(state: State, { taskId, ...cleared }: ClearPlace): Outcome<null> {
  const effect = [...state.effects.values()].find((each) => each.kind === 'clear-place' && each.taskId === taskId);
  if (effect?.kind !== 'clear-place') return decided([], null);
  return decided([event('PlaceCleared', { task_id: taskId, branch: effect.branch, ...cleared })], null);
}
