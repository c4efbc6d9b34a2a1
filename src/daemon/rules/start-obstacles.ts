import { withLibrary } from '../../runbook/library.ts';
import { describeChecks, type Runbook } from '../../runbook/runbook.ts';
import type { Refusal } from '../../state/outcome.ts';
import { isAuthorRole } from '../../state/workflow/authors.ts';

/** A workflow starts only if its checks are decided. */
export const NO_CHECKS: Refusal = {
  code: 'no-checks',
  message: describeChecks('unanswered'),
  hint: 'List the checks as [[ci.required]] in baton.toml, or write ci.required = [] there to merge without any.',
};

/** Returns why no agent could approve the workflow's result. */
export function findReviewObstacle(runbook: Runbook): Refusal | undefined {
  const reviewers = holdersOf(runbook, (role) => role === 'reviewer');
  const authors = holdersOf(runbook, isAuthorRole);
  if (runbook.sameAgentMayReview || reviewers.some((name) => !authors.includes(name))) return undefined;
  return {
    code: 'separation-of-duties',
    message: `no agent may review: ${reviewers.join(', ')} would also do the work`,
    hint: 'Let another agent review (workers.reviewers), or allow the same agent: roles.reviewer.same_agent = true',
  };
}

/** Returns the principals that claim a role. Separation of duties needs separate principals. */
function holdersOf(runbook: Runbook, isRole: (role: string) => boolean): readonly string[] {
  return [...withLibrary(runbook).workers.values()].flatMap(({ name, roles, run }) => {
    const isHolder = run.kind !== 'workflow' && (roles === undefined || roles.some(isRole));
    return isHolder ? [run.kind === 'agent' ? run.agent : name] : [];
  });
}

export function startsWorkflows({ workers }: Pick<Runbook, 'workers'>): boolean {
  return [...workers.values()].some(({ run }) => run.kind === 'workflow');
}
