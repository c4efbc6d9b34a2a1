import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { Decision, DecisionAction } from './decision.ts';

export interface ResolveDecision {
  readonly id: string;
  /** Its number, from 1. */
  readonly option: number;
  readonly message?: string;
}

export type ResolvedDecision = Outcome<{
  readonly id: string;
  readonly option: number;
  readonly action: DecisionAction;
}>;

/** A person chooses, once. Who chooses the same again hears what was chosen; who chooses otherwise hears who was first. */
export function decideResolveDecision(state: State, { id, option, message }: ResolveDecision): ResolvedDecision {
  const decision = state.decisions.get(id);
  if (decision === undefined)
    return refusal('no-such-decision', `there is no decision ${id}`, 'See them: baton decision list');
  const chosen = decision.options[option - 1];
  if (chosen === undefined) {
    const most = decision.options.length;
    return refusal('no-such-option', `decision ${id} has no option ${option}`, `Choose one of 1 to ${most}.`);
  }
  const { result } = decision;
  const answer = { id, option, action: chosen.action };
  if (result?.kind === 'resolved' && result.option === option) return decided([], answer);
  if (result !== null) return refuseSettled(decision);
  const { action } = chosen;
  return decided([event('DecisionResolved', { decision_id: id, option, action, message: message ?? null })], answer);
}

/** The first option with one of these actions, in the order of the actions. */
export function findOption({ options }: Decision, ...actions: readonly DecisionAction[]): number | undefined {
  for (const action of actions) {
    const at = options.findIndex((option) => option.action === action);
    if (at >= 0) return at + 1;
  }
  return undefined;
}

function refuseSettled({ id, options, result }: Decision): ReturnType<typeof refusal> {
  const hint = `See it: baton decision show ${id}`;
  if (result?.kind !== 'resolved')
    return refusal('decision-withdrawn', `decision ${id} has settled itself: ${result?.reason ?? ''}`, hint);
  const { option, by, at } = result;
  const label = options[option - 1]?.label ?? '';
  return refusal('decision-resolved', `decision ${id} was resolved by ${by} at ${at}: ${option} (${label})`, hint);
}
