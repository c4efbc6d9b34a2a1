import type { ApiError } from '../../api/answer.ts';
import { findMainBranch } from '../../git/repository.ts';
import { withLibrary } from '../../runbook/library.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import type { Project } from '../project/project.ts';
import { isAuthorRole } from '../../state/workflow/authors.ts';

/** Why a workflow could not come to its end as things are: better said before the first agent has worked than after the last. */
export async function findStartObstacle(
  runbook: Runbook,
  { path, own }: Pick<Project, 'path' | 'own'>,
): Promise<ApiError | undefined> {
  const main = await findMainBranch(path, runbook.merge?.into);
  if (!main.ok) {
    const { code, message, hint } = main.problem;
    return { code, message: `there is nothing to merge into: ${message}`, hint };
  }
  const uncopied = await own.findRefusal(main.value.sha, COPY_MS);
  if (uncopied !== undefined) {
    const { code, message, hint } = uncopied;
    return { code, message: `nothing could be checked or merged: ${message}`, hint };
  }
  const reviewers = holdersOf(runbook, (role) => role === 'reviewer');
  const authors = holdersOf(runbook, isAuthorRole);
  if (runbook.sameAgentMayReview || reviewers.some((name) => !authors.includes(name))) return undefined;
  return {
    code: 'separation-of-duties',
    message: `nobody could review: ${reviewers.join(', ')} would also work on what is to be reviewed`,
    hint: 'Have another agent review (workers.reviewers), or say that the same may: roles.reviewer.same_agent = true',
  };
}

/** Well below the time that a client waits for an answer. */
const COPY_MS = 20_000;

/** Under which names a role is claimed: duties are kept apart by them. */
function holdersOf(runbook: Runbook, isRole: (role: string) => boolean): readonly string[] {
  return [...withLibrary(runbook).workers.values()]
    .filter(({ roles }) => roles === undefined || roles.some(isRole))
    .map(({ name, run }) => (run.kind === 'agent' ? run.agent : name));
}
