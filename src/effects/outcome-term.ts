import type { FleetRole } from './context.ts';

/**
 * The term under which the caretaker records the outcome of an effect that it began in the term `begun`. A host whose lease lapsed unnoticed
 * (it slept, or was frozen) gets a new term, and nobody else was the caretaker meanwhile: it would have aborted the effect. Its outcomes count.
 */
export function outcomeTerm(
  begun: number,
  here: Pick<FleetRole, 'isCaretaker' | 'term'> | undefined,
  { aborted }: Pick<AbortSignal, 'aborted'>,
): number {
  return !aborted && here?.isCaretaker === true ? (here.term ?? begun) : begun;
}
