import { phaseMovedEvent } from '../state/tasks/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import type { Task } from '../state/tasks/task.ts';
import { writebackRecords } from '../state/tasks/task.ts';
import { isOfOtherHead } from '../state/workflow/checks.ts';
import { requestPull, wantsPull } from './pull-request.ts';
import type { EngineContext } from './context.ts';

/** A task has come to CI: its required checks are wanted, on exactly the commit that it was left at. */
export function onCiPending(world: EngineContext, task: Task): Event[] {
  const { rules, newId } = world;
  const { checks = [], ciGate: isOn } = rulesFor(task, rules);
  if (task.phase !== 'CI_PENDING') return [];
  // The pull request says when it is there.
  if (!isOn && wantsPull(world, task)) return [];
  if (!isOn && task.flow.mode !== null)
    return [phaseMovedEvent(task, 'READY_FOR_REVIEW', { cause: 'checks', reason: 'no checks are required' })];
  if (!isOn || checks.length === 0) return [];
  const head = task.flow.head ?? writebackRecords(task).at(-1)?.commitSha;
  if (head === undefined)
    return [
      phaseMovedEvent(task, 'BLOCKED', {
        cause: 'nothing-to-check',
        reason: 'there is no commit to check: nobody recorded one',
      }),
    ];
  return [event('ChecksRequested', { checks_id: newId(), task_id: task.id, head, checks })];
}

/** Checks ended, or a pull request was published, for a commit that the task has left behind: the same is wanted for its head now. */
export function onNewHead(world: EngineContext, task: Task, made: { readonly head: string }): Event[] {
  if (task.phase !== 'CI_PENDING' || !isOfOtherHead(task, made)) return [];
  return [...requestPull(world, task), ...onCiPending(world, task)];
}
