import { parseHandoff } from '../../protocol/handoff/index.ts';
import { renderElapsedTime } from '../../protocol/text/text-format.ts';
import { event, type Event, type GithubIssueRef } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import { effectKey, findEffect } from '../runs/effect.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import type { WorkflowEvents } from './workflow-event.ts';

export function githubIssueUrl({ repository, number }: GithubIssueRef): string {
  const isAtGithub = repository.split('/').length === 2;
  return `https://${isAtGithub ? 'github.com/' : ''}${repository}/issues/${number}`;
}

/** Requests the comment on and the closing of the issue from which the task was imported. Empty if there is none. */
export function requestIssueClosing(task: Task, closeId: string, at: string): Event[] {
  const { id, githubIssue, flow } = task;
  if (githubIssue === null) return [];
  // The mark contains the commit: a task that is reinstated and merged again gets another comment.
  const mark = `<!-- baton: ${id} closed ${(flow.mergeSha ?? '').slice(0, 12)} -->`;
  const comment = renderClosingComment(task, at);
  return [event('GithubIssueCloseRequested', { close_id: closeId, task_id: id, ...githubIssue, comment, mark })];
}

/** Contains only Baton's measurements, and no text of an agent. */
function renderClosingComment({ id, flow }: Task, at: string): string {
  const { mergeSha, pull, reviews, commits, startedAt } = flow;
  const merged = mergeSha === null ? '' : `, merged as ${mergeSha}`;
  const through = typeof pull?.url === 'string' ? ` through ${pull.url}` : '';
  const tests = countAddedTests(flow);
  return [
    `\`${id}\` is done${merged}${through}.`,
    '',
    `- Cycle time: ${renderElapsedTime(Math.max(0, Date.parse(at) - Date.parse(startedAt ?? at)))}`,
    `- Review rounds: ${reviews}`,
    `- Commits: ${commits}`,
    ...(tests === undefined ? [] : [`- Tests added: ${tests}`]),
  ].join('\n');
}

/** The number of added tests, as the closer measured them. */
function countAddedTests({ handoff }: Task['flow']): number | undefined {
  const parsed = handoff === null ? undefined : parseHandoff(handoff.xml);
  return parsed?.ok === true && parsed.value.kind === 'workflow-complete'
    ? parsed.value.metrics.tests_added
    : undefined;
}

export type CloseGithubIssue = Omit<WorkflowEvents['GithubIssueClosed'], 'task_id' | 'number'>;

export function decideCloseGithubIssue(state: State, { close_id, outcome, reason }: CloseGithubIssue): Outcome<null> {
  const effect = findEffect(state, 'GithubIssueCloseRequested', effectKey.issue(close_id));
  if (effect === undefined) return decided([], null);
  const { task_id, number } = effect.data;
  const why = reason === null ? null : excerptStart(reason);
  return decided([event('GithubIssueClosed', { close_id, task_id, number, outcome, reason: why })], null);
}
