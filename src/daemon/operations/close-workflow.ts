import type { ResultOf } from '../../api/operations/registry.ts';
import { renderGithubProblem, retryGithub } from '../../effects/merges/github.ts';
import { deleteRemoteBranch } from '../../git/push-branch.ts';
import { gitLines } from '../../git/run-git.ts';
import { removeWorktree } from '../../git/worktree/remove.ts';
import { ghLoginConfig, parseRepository } from '../../github/find-github.ts';
import { openPullRequestApi } from '../../github/pulls.ts';
import { renderElapsedTime } from '../../protocol/text/text-format.ts';
import { isElsewhere } from '../../state/fleet/work-place.ts';
import type { Task } from '../../state/tasks/task.ts';
import { landedHead } from '../../state/workflow/flow.ts';
import type { Call } from './call.ts';

type ClosedWorkflow = ResultOf<'workflow_close'>;
type WorkflowMeasures = Omit<ClosedWorkflow, 'actions'>;

/** Removes the worktree and branch of a merged task, and measures its work. Keeps anything with unmerged work. */
export async function closeWorkflow(
  { task, dependants }: { readonly task: Task; readonly dependants: readonly string[] },
  call: Pick<Call, 'project' | 'services' | 'signal'>,
): Promise<ClosedWorkflow> {
  const { project, services } = call;
  const { flow } = task;
  const began = Date.parse(flow.startedAt ?? '');
  const measured = {
    merge_sha: flow.mergeSha,
    cycle_ms: Number.isNaN(began) ? 0 : services.now().getTime() - began,
    review_iterations: flow.reviews,
    commits: flow.commits,
    tests_added: flow.mergeSha === null ? 0 : await countTests(project, flow.mergeSha, flow.mergeBase),
  };
  return {
    ...measured,
    actions: [
      describeMerge(flow),
      ...(await commentOnPull(task, measured, call)),
      await removeTaskWorktree(task, project, services),
      ...(await deletePullBranch(task, project)),
      ...(dependants.length === 0 ? [] : [`Dependants can start: ${dependants.join(', ')}`]),
      'Issue closed',
    ],
  };
}

function describeMerge({ mergeSha, mergeBase }: Task['flow']): string {
  if (mergeSha === null) return 'Nothing was merged by Baton';
  return mergeSha === mergeBase ? `Nothing was left to merge at ${mergeSha}` : `Merged as ${mergeSha}`;
}

async function removeTaskWorktree(
  task: Task,
  { path, stateDir, own, here }: Call['project'],
  services: Call['services'],
): Promise<string> {
  const { flow } = task;
  const { place } = flow;
  if (place === null) return 'There was no worktree';
  // After a squash no ref names the branch's own commits, and git would collect them, but the record still names them.
  if (flow.head !== null) await own.with(flow.head);
  if (isElsewhere(task, here))
    return `Its worktree is on ${task.work?.host ?? ''}; remove it there: baton worktree prune`;
  const { workspace, merge } = services.rulebook.runbookFor(task);
  const configured = [...workspace.copy, ...workspace.link];
  const guard = { stateDir, mainBranch: merge?.into, configured, landed: landedHead(task) };
  const removed = await removeWorktree(path, place.workspace, guard);
  if (removed.ok) return `Worktree removed, branch ${removed.value.branch ?? place.branch} deleted`;
  // The task may have been closed before.
  return removed.problem.code === 'git/no-worktree' ? 'Worktree and branch are gone' : removed.problem.message;
}

/** GitHub may also remove the branch itself. */
async function deletePullBranch({ flow }: Task, { own: copy }: Call['project']): Promise<readonly string[]> {
  const { place, pull } = flow;
  const repository = parseRepository(pull?.repository ?? '');
  if (place === null || !pull?.published || repository === undefined || flow.mergeSha === null) return [];
  const { remote, published: head } = pull;
  const { branch } = place;
  const own = await copy.with();
  if (!own.ok) return [`Branch ${branch} stays at ${remote}: ${own.problem.message}`];
  const gone = await deleteRemoteBranch(own.value, { remote, branch, head, config: ghLoginConfig(repository) });
  if (!gone.ok) return [`Branch ${branch} stays at ${remote}: ${gone.problem.message}`];
  return [
    gone.value === 'kept'
      ? `Branch ${branch} stays at ${remote}: the branch has newer commits there`
      : `Branch ${branch} deleted at ${remote}`,
  ];
}

/**
 * Counts the tests that the merge added, by how tests start in common languages. After a rebase, in all its commits.
 */
async function countTests({ own: copy }: Call['project'], sha: string, base: string | null): Promise<number> {
  const own = await copy.with(sha);
  if (!own.ok) return 0;
  const range = [base ?? `${sha}^1`, sha];
  const asked = ['diff', '--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--end-of-options', ...range];
  const shown = await gitLines([...asked, '--'], { cwd: own.value });
  if (!shown.ok) return 0;
  const count = (sign: string): number =>
    shown.value.filter((line) => line.startsWith(sign) && TEST_LINE.test(line)).length;
  return Math.max(0, count('+') - count('-'));
}

const TEST_LINE =
  /^[+-]\s*(?:(?:it|test)(?:\.\w+)*\s*\(|(?:async\s+)?def test_|func Test|#\[(?:tokio::)?test\]|@Test\b)/;

/** Posts the figures on the pull request, once: a hidden mark identifies the comment. A failure is ignored. */
async function commentOnPull(
  { id, flow }: Task,
  measured: WorkflowMeasures,
  { project, services, signal = new AbortController().signal }: Pick<Call, 'project' | 'services' | 'signal'>,
): Promise<readonly string[]> {
  const { pull, mergeSha } = flow;
  const number = pull?.number ?? null;
  if (pull === null || number === null || mergeSha === null) return [];
  const opened = openPullRequestApi(pull.repository, { env: services.env, cwd: project.path, signal });
  if (!opened.ok) return [`No closing comment: ${opened.problem.message}`];
  const mark = `<!-- baton: ${id} closed -->`;
  const body = `${renderComment(id, measured)}\n\n${mark}`;
  const posted = await retryGithub(() => opened.value.commentOnce(number, body, mark), signal);
  return [posted.ok ? 'Closing comment posted' : `No closing comment: ${renderGithubProblem(posted.problem)}`];
}

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
