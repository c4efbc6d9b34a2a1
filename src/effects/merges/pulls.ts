import { pushBranch } from '../../git/push-branch.ts';
import { githubFailure } from '../../github/call-api.ts';
import { findHeadOwner, ghLoginConfig } from '../../github/find-github.ts';
import { type GithubPull, openPullRequestApi, type PullRequestApi } from '../../github/pulls.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import type { PullRequest as Known } from '../../state/workflow/flow.ts';
import { type PublishPull, replaceMarkedPart } from '../../state/workflow/pull.ts';
import { findBaseOf } from '../sessions/workplace.ts';
import { apiContext, type GithubContext, type GithubOutcome, renderGithubProblem, retryGithub } from './github.ts';

type PublishPullEffect = Events['PullRequestRequested'];
type PublishResult = Omit<PublishPull, 'pull_id'>;

/**
 * Pushes the branch of a task to GitHub, and opens or updates its pull request, one at a time per task. It looks for an
 * existing pull request first, because a daemon may have ended before it recorded one.
 */
export async function publishPull(
  effect: PublishPullEffect,
  context: GithubContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const { pull_id, task_id } = effect;
  return context.placeMutex.run(`pull:${task_id}`, async () => {
    if (signal.aborted) return [];
    const known = await context.readState((state) => state.tasks.get(task_id)?.flow.pull ?? null);
    if (known?.id !== pull_id) return [];
    const done = await retryGithub(() => publishBranch(effect, known, context, signal), signal);
    if (signal.aborted) return [];
    if (done.ok) return [{ kind: 'publish-pull', command: { pull_id, ...done.value } }];
    return [{ kind: 'fail-pull', command: { pull_id, reason: renderGithubProblem(done.problem) } }];
  });
}

async function publishBranch(
  effect: PublishPullEffect,
  known: Known,
  context: GithubContext,
  signal: AbortSignal,
): Promise<GithubOutcome<PublishResult>> {
  const { branch, head, into, title, body, draft, repository, remote } = effect;
  const { path } = context;
  const opened = openPullRequestApi(repository, apiContext(context, signal));
  if (!opened.ok) return opened;
  const pulls = opened.value;
  const main = await findBaseOf(into, context);
  if (!main.ok) return main;
  const base = main.value.name;
  if (branch === base)
    return githubFailure(
      'github/base-branch',
      `'${branch}' is the branch that work is merged into`,
      'Work on another branch.',
    );
  const wanted = { branch, owner: await findHeadOwner(path, remote, pulls.repository), base };
  const found = known.number === null ? await pulls.findOpen(wanted) : await pulls.read(known.number);
  if (!found.ok) return found;
  const before = found.value;
  if (before !== undefined && !before.isOpen && !(known.isClosed && !before.isMerged)) return endedElsewhere(before);
  const push = { remote, branch, head, last: known.published, config: ghLoginConfig(pulls.repository) };
  const own = await context.ownRepository.with(head);
  if (!own.ok) return own;
  const pushed = await pushBranch(own.value, push);
  if (!pushed.ok) return pushed;
  if (before !== undefined) return updatePull(pulls, before, known, body);
  const made = await pulls.open({ ...wanted, title, body, isDraft: draft });
  if (!made.ok) return made;
  return { ok: true, value: { number: made.value.number, url: made.value.url, how: 'opened' } };
}

/** Keeps what people wrote around Baton's part of the text. */
async function updatePull(
  pulls: PullRequestApi,
  before: GithubPull,
  known: Known,
  own: string,
): Promise<GithubOutcome<PublishResult>> {
  const { number, url, isOpen } = before;
  const body = replaceMarkedPart(before.body, own);
  const changes = { ...(body === before.body ? {} : { body }), ...(isOpen ? {} : { state: 'open' as const }) };
  if (Object.keys(changes).length > 0) {
    const changed = await pulls.change(number, changes);
    if (!changed.ok) return changed;
  }
  return { ok: true, value: { number, url, how: isOpen ? (known.number === null ? 'found' : 'updated') : 'reopened' } };
}

/** The pull request was merged or closed at GitHub in the meantime, so a person must decide. */
export function endedElsewhere({ number, url, isMerged, mergeSha, mergedBy, head }: GithubPull): GithubOutcome<never> {
  if (isMerged) {
    const by = mergedBy === null ? '' : ` by ${mergedBy}`;
    const message = `pull request #${number} was merged at GitHub${by} as ${mergeSha ?? 'an unknown commit'}, with the head ${head.slice(0, 12)}: ${url}`;
    const hint =
      'If the task is done: git pull, then baton reconcile. If work is left, reinstate the task: baton thought record, with "status": "todo".';
    return githubFailure('github/merged-elsewhere', message, hint);
  }
  const hint = `If that was a mistake: gh pr reopen ${number}, then try again. If not: leave the task blocked.`;
  return githubFailure('github/closed-elsewhere', `pull request #${number} was closed at GitHub: ${url}`, hint);
}

/** Closes the pull request of a cancelled task, with a comment. The effect stays owed while GitHub is unavailable. */
export async function closePull(
  { pull_id, task_id, repository, number, comment }: Events['PullRequestCloseRequested'],
  context: GithubContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const ended = (outcome: 'closed' | 'merged' | 'failed', reason: string | null): readonly Command[] => [
    { kind: 'close-pull', command: { pull_id, number, outcome, reason } },
  ];
  return context.placeMutex.run(`pull:${task_id}`, async () => {
    if (signal.aborted) return [];
    const opened = openPullRequestApi(repository, apiContext(context, signal));
    if (!opened.ok) return ended('failed', renderGithubProblem(opened.problem));
    const pulls = opened.value;
    const found = await pulls.read(number);
    if (found.ok && found.value.isMerged) return ended('merged', null);
    if (found.ok && !found.value.isOpen) return ended('closed', null);
    const closed = found.ok ? await pulls.change(number, { state: 'closed' }) : found;
    if (!closed.ok) return closed.isPassing ? [] : ended('failed', renderGithubProblem(closed.problem));
    // Comments last: a daemon killed in between omits the comment instead of writing it twice.
    await pulls.comment(number, comment);
    return ended('closed', null);
  });
}
