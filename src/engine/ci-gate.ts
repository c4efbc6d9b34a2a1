import { moveTo } from '../state/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import type { Task } from '../state/task.ts';
import { writebacks } from '../state/task.ts';
import { wantsPull } from './pull-request.ts';
import type { World } from './world.ts';

/** A task has come to CI: its required checks are wanted, on exactly the commit that it was left at. */
export function ciGate(world: World, task: Task): Event[] {
  const { rules, newId } = world;
  const { checks = [], ciGate: isOn } = rules;
  if (task.phase !== 'CI_PENDING') return [];
  // The pull request says when it is there.
  if (!isOn && wantsPull(world, task)) return [];
  if (!isOn && task.flow.mode !== null) return [moveTo(task, 'READY_FOR_REVIEW', 'no checks are required')];
  if (!isOn || checks.length === 0) return [];
  const head = task.flow.head ?? writebacks(task).at(-1)?.commitSha;
  if (head === undefined) return [moveTo(task, 'BLOCKED', 'there is no commit to check: nobody recorded one')];
  return [event('ChecksRequested', { checks_id: newId(), task_id: task.id, head, checks })];
}
