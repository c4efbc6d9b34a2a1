import { type HandoffMessage, isHandoffOn, parseHandoff } from '../../protocol/handoff/index.ts';
import type { Phase } from '../../protocol/phase.ts';
import { event, type Event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import { effectKey, findEffect } from '../runs/effect.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { State } from '../state.ts';
import { phaseMovedEvent } from '../tasks/claim-task.ts';
import type { Task } from '../tasks/task.ts';
import { phaseAfterChecks } from './approval.ts';
import { cancelChecks, isOfOtherHead } from './checks.ts';
import { githubIssueUrl } from './github-issue.ts';
import { refuseMerge } from './merge.ts';
import type { WorkflowEvents } from './workflow-event.ts';

export type PublishPull = Omit<WorkflowEvents['PullRequestPublished'], 'task_id' | 'head' | 'watch'>;

/**
 * Records the published pull request. If the checks were faster, the task has waited for it. A report about an older
 * request changes nothing.
 */
export function decidePublishPull(state: State, found: PublishPull, rules: Rules): Outcome<null> {
  const task = findTaskOfPull(state, found.pull_id);
  const pull = task?.flow.pull;
  if (task === undefined || !pull) return decided([], null);
  const { checks } = task.flow;
  const isOpen = checks !== null && checks.head === pull.head && checks.outcome === null;
  const watch = isOpen ? checks.plans.filter(({ run }) => run === undefined).map(({ name }) => name) : [];
  const published = event('PullRequestPublished', { ...found, task_id: task.id, head: pull.head, watch });
  return decided([published, ...afterPublishing(task, rulesFor(task, rules))], null);
}

function afterPublishing(task: Task, { ciGate }: Rules): Event[] {
  const { checks, pull, mode } = task.flow;
  if (task.phase !== 'CI_PENDING' || isOfOtherHead(task, pull)) return [];
  if (checks?.head === pull?.head && checks?.outcome === 'passed')
    return [phaseMovedEvent(task, phaseAfterChecks(task), { cause: 'checks', reason: 'all required checks passed' })];
  if (ciGate || mode === null) return [];
  return [
    phaseMovedEvent(task, phaseAfterChecks(task), {
      cause: 'published',
      reason: 'the pull request is open; no checks are required',
    }),
  ];
}

export type FailPull = Omit<WorkflowEvents['PullRequestFailed'], 'task_id'>;

/** Records that the pull request cannot be published: the task is blocked, and its work is kept. */
export function decideFailPull(state: State, { pull_id, reason }: FailPull): Outcome<null> {
  const task = findTaskOfPull(state, pull_id);
  if (task === undefined) return decided([], null);
  const failed = event('PullRequestFailed', { pull_id, task_id: task.id, reason: excerptStart(reason) });
  if (task.flow.merge !== null) return decided([failed, ...refuseMerge(task, task.flow.merge, reason)], null);
  // A session keeps working; the branch is published again afterwards.
  if (task.claim !== null || !PHASES_AWAITING_PULL.has(task.phase)) return decided([failed], null);
  return decided(
    [
      failed,
      // A retry requests them again, and without a pull request GitHub runs none.
      ...cancelChecks(task),
      phaseMovedEvent(task, 'BLOCKED', { cause: 'publish-failed', reason: `no pull request: ${excerptStart(reason)}` }),
    ],
    null,
  );
}

const PHASES_AWAITING_PULL: ReadonlySet<Phase> = new Set(['CI_PENDING', 'READY_FOR_REVIEW', 'READY_FOR_MERGE']);

export type ClosePull = Omit<WorkflowEvents['PullRequestClosed'], 'task_id'>;

export function decideClosePull(state: State, closed: ClosePull): Outcome<null> {
  const effect = findEffect(state, 'PullRequestCloseRequested', effectKey.close(closed.pull_id));
  if (effect === undefined) return decided([], null);
  return decided([event('PullRequestClosed', { ...closed, task_id: effect.data.task_id })], null);
}

function findTaskOfPull({ tasks }: State, pullId: string): Task | undefined {
  return [...tasks.values()].find(({ flow }) => flow.pull?.id === pullId && flow.pull.isWanted);
}

/** Baton updates the text between the marks; text around them is kept. */
export const PULL_MARKS = { begin: '<!-- baton -->', end: '<!-- /baton -->' } as const;

export function renderPullBody(task: Pick<Task, 'id' | 'title' | 'githubIssue' | 'flow'>): string {
  const parsed = task.flow.handoff === null ? undefined : parseHandoff(task.flow.handoff.xml);
  const parts = parsed?.ok === true && parsed.value.kind === 'handoff' ? handoffParts(parsed.value) : [];
  const rounds = task.flow.rounds === 0 ? [] : [`Rounds of changes so far: ${task.flow.rounds}.`];
  const origin = `Opened by Baton for the task \`${task.id}\`. The ledger has its whole history.`;
  // Contains no word that closes the issue, because Baton closes it once the merge is recorded.
  const issue = task.githubIssue === null ? [] : [`Issue: ${githubIssueUrl(task.githubIssue)}`];
  return [PULL_MARKS.begin, ...fitToEntry(parts), ...rounds, ...issue, origin, PULL_MARKS.end].join('\n\n');
}

export function replaceMarkedPart(body: string, own: string): string {
  const from = body.indexOf(PULL_MARKS.begin);
  const to = body.indexOf(PULL_MARKS.end, from);
  if (from !== -1 && to !== -1) return `${body.slice(0, from)}${own}${body.slice(to + PULL_MARKS.end.length)}`;
  return body.trim() === '' ? own : `${body.trimEnd()}\n\n${own}`;
}

/** Keeps the entry within its size limit. */
function fitToEntry(parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? parts : [excerptStart(parts.join('\n\n'), 10_000)];
}

function handoffParts(handoff: HandoffMessage): string[] {
  if (isHandoffOn(handoff, 'implementer-agent', 'reviewer-agent')) {
    const { summary, files_changed, tests_added, coverage } = handoff;
    const claims = `Files changed: ${files_changed}. Tests added: ${tests_added}. Coverage: ${escapeAgentText(coverage)}. (As reported by the implementer.)`;
    return [escapeAgentText(summary), claims];
  }
  if (isHandoffOn(handoff, 'fixer-agent', 'reviewer-agent')) {
    const fixes = handoff.fixes_applied.map(
      ({ location, text }) => `- \`${escapeAgentText(location)}\`: ${escapeAgentText(text)}`,
    );
    return [['Fixed in the last round:', ...fixes.slice(0, MOST_FIXES)].join('\n')];
  }
  return [];
}

/**
 * Escapes mentions, references to issues and comment marks in agents' text. A backtick does not protect: GitHub
 * interprets what follows an unclosed one. An issue is also closed by `GH-12` and by its address, so the closing words
 * are escaped too.
 */
export function escapeAgentText(text: string): string {
  return excerptStart(text.toWellFormed(), 2000)
    .replaceAll('<!--', '<! --')
    .replaceAll(/(?<!\w)@(?=\w)/g, '@\u200B')
    .replaceAll(/#(?=\d)/g, '#\u200B')
    .replaceAll(/\bGH-(?=\d)/gi, '$&\u200B')
    .replaceAll(/\b(?:clos|fix|resolv)(?=e?[sd]?\b\W*(?:https?:|\S*\/|#|GH-))/gi, '$&\u200B');
}

const MOST_FIXES = 50;
