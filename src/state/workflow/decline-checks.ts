import { event, type EventOf, type RecordedEvent } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';

export interface ProjectAnswers {
  readonly answers: Map<string, ProjectAnswer>;
}

export interface ProjectAnswer {
  readonly by: string;
  readonly at: string;
}

const NO_CHECKS = 'no-checks';

/** The answer that nothing is checked before a merge. It applies while the runbook does not set `ci.required`. */
export function findChecksDeclined({ answers }: ProjectAnswers): ProjectAnswer | undefined {
  return answers.get(NO_CHECKS);
}

export interface DeclineChecks {
  readonly by: string;
}

export function decideDeclineChecks(state: ProjectAnswers, { by }: DeclineChecks): Outcome<null> {
  return decided(findChecksDeclined(state) === undefined ? [event('ChecksDeclined', { by })] : [], null);
}

export function evolveChecksDeclined(
  { answers }: ProjectAnswers,
  { data, at }: EventOf<'ChecksDeclined'> & Pick<RecordedEvent, 'at'>,
): void {
  answers.set(NO_CHECKS, { by: data.by, at });
}
