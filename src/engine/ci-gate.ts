import { moveTo } from '../state/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import type { Task } from '../state/task.ts';
import { writebacks } from '../state/task.ts';
import { isOfOtherHead } from '../state/workflow/checks.ts';
import { publish, wantsPull } from './pull-request.ts';
import type { World } from './world.ts';

/** A task has come to CI: its required checks are wanted, on exactly the commit that it was left at. */
export function ciGate(world: World, task: Task): Event[] {
  const { rules, newId } = world;
  const { checks = [], ciGate: isOn } = rulesFor(task, rules);
  if (task.phase !== 'CI_PENDING') return [];
  // The pull request says when it is there.
  if (!isOn && wantsPull(world, task)) return [];
  if (!isOn && task.flow.mode !== null)
    return [moveTo(task, 'READY_FOR_REVIEW', { cause: 'checks', reason: 'no checks are required' })];
  if (!isOn || checks.length === 0) return [];
  const head = task.flow.head ?? writebacks(task).at(-1)?.commitSha;
  if (head === undefined)
    return [
      moveTo(task, 'BLOCKED', {
        cause: 'nothing-to-check',
        reason: 'there is no commit to check: nobody recorded one',
      }),
    ];
  return [event('ChecksRequested', { checks_id: newId(), task_id: task.id, head, checks })];
}

/** Checks ended, or a pull request was published, for a commit that the task has left behind: the same is wanted for its head now. */
export function followHead(world: World, task: Task, made: { readonly head: string }): Event[] {
  if (task.phase !== 'CI_PENDING' || !isOfOtherHead(task, made)) return [];
  return [...publish(world, task), ...ciGate(world, task)];
}
