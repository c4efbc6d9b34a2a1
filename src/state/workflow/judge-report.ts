import type { CheckPlan, CheckReporter, WorkflowEvents } from './workflow-event.ts';

/** What another system reported about a check. */
export interface CheckReport {
  readonly reporter: CheckReporter;
  /** In the words of that system, such as `success` or `skipped`. */
  readonly conclusion: string;
}

type QuestionedBecause = WorkflowEvents['CheckQuestioned']['because'];

export type JudgedReport = 'counts' | 'ignored' | QuestionedBecause;

/**
 * Judges who reported a check, and what. A report counts from the repository and the app that the check names. Without a
 * name they are the project's own repository, and the app whose report of this check was the first to count. A report
 * about another repository, or of another app than the named one, is not about this check. Everything else asks a
 * person: no known repository, another app than before, and a run that checked nothing.
 */
export function judgeReport(
  plan: Pick<CheckPlan, 'repository' | 'app' | 'allow'>,
  { reporter, conclusion }: CheckReport,
  known: { readonly repository: string | undefined; readonly app: string | undefined },
): JudgedReport {
  const repository = plan.repository ?? known.repository;
  if (repository !== undefined && !isSame(repository, reporter.repository)) return 'ignored';
  if (plan.app !== undefined && !isSame(plan.app, reporter.app)) return 'ignored';
  if (repository === undefined && known.app === undefined) return 'repository';
  if (plan.app === undefined && known.app !== undefined && !isSame(known.app, reporter.app)) return 'app';
  return EMPTY.has(conclusion) && plan.allow?.includes(conclusion) !== true ? 'conclusion' : 'counts';
}

/** GitHub accepts any case in names. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The check ran no tests. */
const EMPTY: ReadonlySet<string> = new Set(['skipped', 'neutral']);

/** The apps whose reports count, by check and repository. */
export function reporterKey(name: string, repository: string): string {
  return `${repository.toLowerCase()} ${name}`;
}
