import { event, type Event, type EventOf } from '../../state/event.ts';
import { nameOption } from '../../state/runs/pending-answer.ts';
import type { EngineContext } from '../context.ts';
import { notifyAttention } from './notify.ts';

/** The person answered an earlier question than the open one. */
export function onExtended({ state }: EngineContext, { decision_id }: EventOf<'DecisionExtended'>['data']): Event[] {
  if (state.decisions.get(decision_id)?.answer === undefined) return [];
  return [event('DecisionAnswerWithdrawn', { decision_id, reason: 'the question has changed since' })];
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
