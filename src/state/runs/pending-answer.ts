import { type Caller, principalOf, splitActor } from '../caller.ts';
import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import type { Decision, DecisionAction, PendingAnswer } from './decision.ts';

interface UndoneAnswer {
  readonly id: string;
  readonly option: number;
  readonly action: DecisionAction;
}

interface UndoAnswer {
  readonly id: string;
  /** The entry of the answer to withdraw. Without it only the caller's own answer is withdrawn. */
  readonly seq?: number;
}

/**
 * Withdraws an answer that is not in effect yet: the decision waits for a person again. A late undo must not withdraw a
 * newer answer, nor one of another person that the caller has not seen.
 */
export function decideUndoAnswer(state: State, { id, seq }: UndoAnswer, caller: Caller): Outcome<UndoneAnswer> {
  const decision = state.decisions.get(id);
  if (decision === undefined) return refuseUnknownDecision(id);
  const { answer, result } = decision;
  if (answer !== undefined) {
    const isMeant = seq === undefined ? splitActor(answer.by).actor === principalOf(state, caller) : seq === answer.seq;
    if (!isMeant) return refuseAnswered(decision, answer);
    const { option, action } = answer;
    return decided([event('DecisionAnswerWithdrawn', { decision_id: id, reason: null })], { id, option, action });
  }
  const hint = `See the decision: baton decision show ${id}`;
  if (result?.kind === 'resolved') {
    const { option, by, at } = result;
    const message = `the answer of ${by} took effect at ${at}: ${nameOption(decision, option)}`;
    return refusal('already-effective', message, hint);
  }
  if (result?.kind === 'withdrawn')
    return refusal('decision-withdrawn', `decision ${id} was withdrawn: ${result.reason}`, hint);
  return refusal('no-pending-answer', `decision ${id} has no answer that could be withdrawn`, hint);
}

/** Refuses every command that would answer a decision twice. */
export function refuseAnswered(decision: Decision, answer: PendingAnswer): ReturnType<typeof refusal> {
  const { id } = decision;
  const { by, at, option, effectiveAt, seq } = answer;
  const message = `decision ${id} was answered by ${by} at ${at}: ${nameOption(decision, option)}; it takes effect at ${effectiveAt}`;
  return refusal('answer-pending', message, `Withdraw that answer first: baton decision undo ${id} --answer ${seq}`);
}

export function refuseUnknownDecision(id: string): ReturnType<typeof refusal> {
  return refusal('no-such-decision', `there is no decision ${id}`, 'See the decisions: baton decision list');
}

export function nameOption({ options }: Pick<Decision, 'options'>, option: number): string {
  return `${option} (${options[option - 1]?.label ?? ''})`;
}
