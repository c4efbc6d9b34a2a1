import type { Event, EventOf } from '../state/event.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import type { Task } from '../state/tasks/task.ts';
import { githubIssueUrl, requestIssueClosing } from '../state/workflow/github-issue.ts';
import type { EngineContext } from './context.ts';
import { askPeople } from './decisions/notify.ts';
import { quoteTitle } from '../state/packet/author-of.ts';

/**
 * On the end of a workflow: closes the issue that it was imported from. If a person left the task unclosed, the issue
 * stays open.
 */
export function closeGithubIssue(
  { newId, at }: EngineContext,
  task: Task,
  { from, next_role, cause }: EventOf<'PhaseMoved'>['data'],
): Event[] {
  const isClosed = from === 'COMPLETED' && next_role === null && cause !== 'decision';
  return isClosed && task.flow.mode !== null ? requestIssueClosing(task, newId(), at) : [];
}

/** The work is merged even if closing its issue fails. A person decides whether to retry. */
export function onGithubIssueClosed(
  world: EngineContext,
  task: Task,
  { outcome, reason, number }: EventOf<'GithubIssueClosed'>['data'],
): Event[] {
  if (outcome !== 'failed' || task.githubIssue === null) return [];
  return askPeople(world, {
    source: 'error',
    title: `Task needs attention: ${task.id} is done, and its issue #${number} could not be closed`,
    context: `${quoteTitle(task)}\n${githubIssueUrl(task.githubIssue)}\n${reason ?? 'no reason was given'}`,
    options: [
      { label: 'Retry', action: 'retry' },
      { label: 'Leave the issue as it is', action: 'dismiss' },
    ],
    task_id: task.id,
  });
}

/**
 * Whether a decision is about an issue that could not be closed. A completed task has no other decision about an error.
 */
export function isAboutGithubIssue(task: Task | undefined, { source, agentId }: Decision): task is Task {
  return (
    task?.phase === 'COMPLETED' &&
    task.flow.issueClosing?.outcome === 'failed' &&
    source === 'error' &&
    agentId === null
  );
}

export function retryIssueClosing({ newId, at }: EngineContext, task: Task, action: DecisionAction): Event[] {
  return action === 'retry' ? requestIssueClosing(task, newId(), at) : [];
}
