import { renderGithubProblem, retryGithub } from '../../effects/merges/github.ts';
import { openPullRequestApi } from '../../github/pulls.ts';
import { renderElapsedTime } from '../../protocol/text/render-time.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { Call } from './call.ts';

/** What a task came to. */
export interface WorkflowMeasures {
  readonly merge_sha: string | null;
  readonly cycle_ms: number;
  readonly review_iterations: number;
  readonly commits: number;
  readonly tests_added: number;
}

/**
 * The last word on the pull request of a task: what it came to, as it was measured. Said once, however often the task is closed: it is found
 * again by its mark, which GitHub does not show. Where it cannot be said, the work is done all the same, and that is told.
 */
export async function commentOnPull(
  { id, flow }: Task,
  measured: WorkflowMeasures,
  { project, services, signal = NEVER_ABORTED }: Pick<Call, 'project' | 'services' | 'signal'>,
): Promise<readonly string[]> {
  const { pull, mergeSha } = flow;
  const number = pull?.number ?? null;
  if (pull === null || number === null || mergeSha === null) return [];
  const opened = openPullRequestApi(pull.repository, { env: services.env, cwd: project.path, signal });
  if (!opened.ok) return [`No closing comment: ${opened.problem.message}`];
  const mark = `<!-- baton: ${id} closed -->`;
  const body = `${renderComment(id, measured)}\n\n${mark}`;
  const said = await retryGithub(() => opened.value.commentOnce(number, body, mark), signal);
  return [said.ok ? 'Closing comment posted' : `No closing comment: ${renderGithubProblem(said.problem)}`];
}

const NEVER_ABORTED = new AbortController().signal;

function renderComment(
  id: string,
  { merge_sha, cycle_ms, review_iterations, commits, tests_added }: WorkflowMeasures,
): string {
  return [
    `\`${id}\` is done, merged as ${merge_sha}.`,
    '',
    `- Cycle time: ${renderElapsedTime(cycle_ms)}`,
    `- Review rounds: ${review_iterations}`,
    `- Commits: ${commits}`,
    `- Tests added: ${tests_added}`,
  ].join('\n');
}
