import { event, type Event, type EventOf } from '../../state/event.ts';
import type { Decision } from '../../state/runs/decision.ts';
import { nameOption } from '../../state/runs/pending-answer.ts';
import { decisionOpenedEvent, type Question } from '../../state/runs/resolve-decision.ts';
import type { EngineContext } from '../context.ts';
import { notifyAttention } from './notify.ts';

/**
 * Opens a decision in place of an open one whose question has changed. It has another id, so that no answer covers more
 * than its author saw. People are notified again only if they answered the earlier one, or were not notified of it yet.
 */
export function replaceQuestion(world: EngineContext, { id, answer, options }: Decision, question: Question): Event[] {
  const decisionId = world.newId();
  const replaced = [
    event('DecisionWithdrawn', {
      decision_id: id,
      reason: `the question has changed since: see decision ${decisionId}`,
    }),
    decisionOpenedEvent(decisionId, question),
  ];
  const { title, context } = question;
  if (answer !== undefined) {
    const message = `The answer ${nameOption({ options }, answer.option)} of ${answer.by} did not take effect: the question has changed since`;
    return [...replaced, notifyAttention(world, title, message, decisionId)];
  }
  // Such a notification is not sent any more.
  const isOwed = [...world.state.effects.values()].some(
    ({ type, data }) => type === 'NotificationRequested' && data.decision_id === id,
  );
  return isOwed ? [...replaced, notifyAttention(world, title, context, decisionId)] : replaced;
}

/** Notifies people again if an answer lapses, because its author believes it is settled. Not after an undo. */
export function onAnswerWithdrawn(
  world: EngineContext,
  { decision_id, reason }: EventOf<'DecisionAnswerWithdrawn'>['data'],
): Event[] {
  const decision = world.state.decisions.get(decision_id);
  if (reason === null || decision?.lapsed === undefined) return [];
  const { option, by } = decision.lapsed;
  const message = `The answer ${nameOption(decision, option)} of ${by} did not take effect: ${reason}`;
  return [notifyAttention(world, decision.title, message, decision_id)];
}
