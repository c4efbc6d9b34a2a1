import type { Constraint } from '../../protocol/agent-session-completed.ts';
import type { Mission } from '../../protocol/mission.ts';
import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import { refuseUnknownTask } from './create-task.ts';
import type { Task } from './task.ts';
import { refuseCompleted } from './update-task.ts';

export interface WaiveConstraint {
  readonly id: string;
  readonly constraint: Constraint;
  readonly reason: string;
}

/** Waives a constraint for the task's sessions, from the next measurement on. A repeated waiver changes nothing. */
export function decideWaiveConstraint(state: State, { id, constraint, reason }: WaiveConstraint): Outcome<null> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  if (reason.trim() === '')
    return refusal('no-reason', `a reason is needed to waive ${constraint}`, 'Add --reason TEXT; it is recorded.');
  if (task.phase === 'COMPLETED') return refuseCompleted(task);
  if (task.flow.waived?.includes(constraint) === true) return decided([], null);
  return decided([event('ConstraintWaived', { task_id: id, constraint, reason })], null);
}

/** The constraints of a session that are still in force. */
export function constraintsInForce(
  constraints: Mission['constraints'],
  task: Pick<Task, 'flow'> | undefined,
): NonNullable<Mission['constraints']> {
  const waived: ReadonlySet<string> = new Set(task?.flow.waived);
  return Object.fromEntries(Object.entries(constraints ?? {}).filter(([name]) => !waived.has(name)));
}
