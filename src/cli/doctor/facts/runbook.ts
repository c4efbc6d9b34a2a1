import { identifyProject, type ProjectIdentity } from '../../../daemon/project/identity.ts';
import type { SandboxSurvey } from '../../../sandbox/survey.ts';
import type { RunbookFacts } from '../checks/runbook.ts';
import type { Place } from '../place.ts';

export function readRunbookFacts(place: Place, survey: SandboxSurvey): RunbookFacts {
  const { repository, read, runbook, runbookProblems } = place;
  const identified = identify(place);
  return {
    isInRepository: repository.ok,
    files: (read?.files ?? []).map(({ path }) => path),
    runbook,
    problems: runbookProblems,
    identityProblem: identified === undefined || identified.ok ? null : identified.error,
    failingSandboxes: Object.entries(survey).flatMap(([kind, { works }]) => (works ? [] : [kind])),
  };
}

/** The ledger of the repository; undefined outside of one, or if the runbook contradicts it. */
export function findIdentity(place: Place): ProjectIdentity | undefined {
  const identified = identify(place);
  return identified?.ok === true ? identified.identity : undefined;
}

function identify({ repository, stateDir, read, env }: Place) {
  if (!repository.ok) return undefined;
  // A runbook with errors still names its project.
  const { project, store } = read?.subject.value ?? { project: undefined, store: undefined };
  const defaultStore = env['BATON_STORE'] || undefined;
  return identifyProject({ stateDir, repository: repository.value, project, store, defaultStore });
}
