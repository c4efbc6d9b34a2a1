import { event, type Event, type EventOf } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import type { Task } from '../state/tasks/task.ts';
import { renderPullBody } from '../state/workflow/pull-body.ts';
import type { EngineContext } from './context.ts';

/**
 * Where the project has pull requests, each task that comes to CI has one: its branch goes to GitHub at the commit that is checked. One
 * that was closed because the task was cancelled is opened again with it.
 */
export function requestPull(world: EngineContext, task: Task): Event[] {
  const { pulls, merge } = rulesFor(task, world.rules);
  const { place, pull } = task.flow;
  const head = task.phase === 'CI_PENDING' ? task.flow.head : pull?.published;
  if (!wantsPull(world, task) || pulls === undefined || place === null || !head) return [];
  const { repository, remote, draft } = pulls;
  return [
    event('PullRequestRequested', {
      pull_id: world.newId(),
      task_id: task.id,
      repository,
      remote,
      branch: place.branch,
      head,
      into: merge?.into ?? '',
      title: `${task.id}: ${task.title}`,
      body: renderPullBody(task),
      draft,
    }),
  ];
}

/** Only branches that Baton made are pushed: a task that somebody works on by hand, on main perhaps, is theirs to publish. */
export function wantsPull({ rules }: EngineContext, task: Task): boolean {
  const { phase, flow } = task;
  if (rulesFor(task, rules).pulls === undefined || flow.place === null || flow.head === null) return false;
  const isBack = flow.pull?.isClosed === true && (phase === 'READY_FOR_REVIEW' || phase === 'READY_FOR_MERGE');
  return phase === 'CI_PENDING' || isBack;
}

/** If an operator cancelled the task, its open pull request is closed with the reason. */
export function closePullOfCancelled(
  { newId }: EngineContext,
  task: Task,
  { cause, reason }: EventOf<'PhaseMoved'>['data'],
): Event[] {
  const { pull } = task.flow;
  if (cause !== 'cancelled' || pull === null) return [];
  const about = { task_id: task.id };
  const given = pull.isWanted ? [event('PullRequestFailed', { ...about, pull_id: pull.id, reason })] : [];
  if (pull.number === null || pull.isClosed) return given;
  const { repository, number } = pull;
  const comment = `The task ${task.id} was ${reason}`;
  return [...given, event('PullRequestCloseRequested', { ...about, pull_id: newId(), repository, number, comment })];
}
