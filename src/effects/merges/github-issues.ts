import { openIssueApi } from '../../github/issues.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import type { CloseGithubIssue } from '../../state/workflow/github-issue.ts';
import { apiContext, type GithubContext, type GithubOutcome, renderGithubProblem, retryGithub } from './github.ts';

/**
 * Comments on the issue of a closed workflow and closes it. Both steps can be repeated: the mark finds the comment of a
 * killed daemon, and a closed issue, perhaps closed by its pull request, stays closed.
 */
export async function closeGithubIssue(
  { close_id, repository, number, comment, mark }: Events['GithubIssueCloseRequested'],
  context: GithubContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const ended = (outcome: CloseGithubIssue['outcome'], reason: string | null): readonly Command[] => [
    { kind: 'close-github-issue', command: { close_id, outcome, reason } },
  ];
  const opened = openIssueApi(repository, apiContext(context, signal));
  if (!opened.ok) return ended('failed', renderGithubProblem(opened.problem));
  const issues = opened.value;
  const commentAndClose = async (): Promise<GithubOutcome<CloseGithubIssue['outcome']>> => {
    const commented = await issues.commentOnce(number, `${comment}\n\n${mark}`, mark);
    const found = commented.ok ? await issues.read(number) : commented;
    if (!found.ok) return found;
    if (!found.value.isOpen) return { ok: true, value: 'was-closed' };
    const closed = await issues.close(number);
    return closed.ok ? { ok: true, value: 'closed' } : closed;
  };
  const done = await retryGithub(commentAndClose, signal);
  if (signal.aborted) return [];
  return done.ok ? ended(done.value, null) : ended('failed', renderGithubProblem(done.problem));
}
