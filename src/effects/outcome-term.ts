import type { FleetRole } from './context.ts';

/**
 * The term under which the caretaker records the outcome of an effect that it started in the term `begun`. A host whose
 * lease lapsed unnoticed, because it slept or was frozen, gets a new term. If the effect was not aborted, no other host
 * was the caretaker in between, so its outcome counts under the new term.
 */
export function outcomeTerm(
  begun: number,
  here: Pick<FleetRole, 'isCaretaker' | 'term'> | undefined,
  { aborted }: Pick<AbortSignal, 'aborted'>,
): number {
  return !aborted && here?.isCaretaker === true ? (here.term ?? begun) : begun;
}
