import { inWords, tryAgain } from '../effects/github.ts';
import { openPulls } from '../github/pulls.ts';
import { renderTime } from '../protocol/render-time.ts';
import type { Task } from '../state/task.ts';
import type { Call } from './call.ts';

/** What a task came to. */
export interface Measured {
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
  measured: Measured,
  { project, services, signal = NEVER }: Pick<Call, 'project' | 'services' | 'signal'>,
): Promise<readonly string[]> {
  const { pull, mergeSha } = flow;
  const number = pull?.number ?? null;
  if (pull === null || number === null || mergeSha === null) return [];
  const opened = openPulls(pull.repository, { env: services.env, cwd: project.path, signal });
  if (!opened.ok) return [`No closing comment: ${opened.problem.message}`];
  const mark = `<!-- baton: ${id} closed -->`;
  const body = `${render(id, measured)}\n\n${mark}`;
  const said = await tryAgain(() => opened.value.commentOnce(number, body, mark), signal);
  return [said.ok ? 'Closing comment posted' : `No closing comment: ${inWords(said.problem)}`];
}

const NEVER = new AbortController().signal;

function render(id: string, { merge_sha, cycle_ms, review_iterations, commits, tests_added }: Measured): string {
  return [
    `\`${id}\` is done, merged as ${merge_sha}.`,
    '',
    `- Cycle time: ${renderTime(cycle_ms)}`,
    `- Review rounds: ${review_iterations}`,
    `- Commits: ${commits}`,
    `- Tests added: ${tests_added}`,
  ].join('\n');
}
