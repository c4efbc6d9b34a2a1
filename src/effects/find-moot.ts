import type { Effect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';

/** Why nobody is to be notified any more; undefined if the notification still holds. One without a decision always does. */
export function findMootReason({ decisionId }: Extract<Effect, { kind: 'notify' }>, state: State): string | undefined {
  const result = decisionId === null ? null : (state.decisions.get(decisionId)?.result ?? null);
  if (result === null) return undefined;
  return result.kind === 'withdrawn' ? 'its decision was withdrawn' : 'its decision was answered';
}
