import { event, type EventOf, type Recorded } from './event.ts';
import { decided, type Outcome } from './outcome.ts';

/** What operators answered about the project itself, once each. */
export interface Answers {
  readonly answers: Map<string, Answered>;
}

export interface Answered {
  readonly by: string;
  readonly at: string;
}

const NO_CHECKS = 'no-checks';

/** The answer that nothing is checked before a merge; undefined if it was not given. It counts while the runbook does not set `ci.required`. */
export function findChecksDeclined({ answers }: Answers): Answered | undefined {
  return answers.get(NO_CHECKS);
}

export interface DeclineChecks {
  readonly by: string;
}

/** Records the answer once. */
export function decideDeclineChecks(state: Answers, { by }: DeclineChecks): Outcome<null> {
  return decided(findChecksDeclined(state) === undefined ? [event('ChecksDeclined', { by })] : [], null);
}

export function declineChecks(
  { answers }: Answers,
  { data, at }: EventOf<'ChecksDeclined'> & Pick<Recorded, 'at'>,
): void {
  answers.set(NO_CHECKS, { by: data.by, at });
}
