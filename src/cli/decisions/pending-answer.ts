import type { DecisionView } from '../../api/run-views.ts';

type Answer = NonNullable<DecisionView['answer']>;

/** The result is not yet safe for the terminal. */
export function describeAnswer({ option, label, by, agent, message, effective_at }: Answer, nowMs: number): string {
  const to = agent === null ? '' : ` to ${agent}`;
  const note = message === null ? '' : `: ${message}`;
  return `${option} (${label})${to} by ${by}, ${describeEffect(effective_at, nowMs)}${note}`;
}

export function describeEffect(effectiveAt: string, nowMs: number): string {
  const seconds = Math.ceil((Date.parse(effectiveAt) - nowMs) / 1000);
  return seconds > 0 ? `takes effect in ${seconds}s` : 'takes effect now';
}
