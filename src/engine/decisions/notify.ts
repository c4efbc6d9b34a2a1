import { event, type Event } from '../../state/event.ts';
import { excerptStart } from '../../state/runs/excerpt.ts';
import { decisionOpenedEvent, type Question } from '../../state/runs/resolve-decision.ts';
import type { RunOutcome } from '../../state/runs/run-event.ts';
import type { EngineContext } from '../context.ts';

/** Notifies people of runs that are done or failed. A cancelled run needs no notification: a person cancelled it. */
export function notifyEnd(
  { newId }: EngineContext,
  what: 'Agent' | 'Pipeline' | 'Step',
  name: string,
  outcome: RunOutcome,
  reason: string | null,
): Event[] {
  if (outcome === 'cancelled') return [];
  const message = excerptStart(reason ?? '', 1000);
  const about = { notification_id: newId(), title: `${what} ${outcome}: ${name}`, message, decision_id: null };
  return [event('NotificationRequested', { kind: outcome, ...about })];
}

export function notifyAttention({ newId }: EngineContext, title: string, message: string, decision_id: string): Event {
  const about = { notification_id: newId(), title, message: excerptStart(message, 1000), decision_id };
  return event('NotificationRequested', { kind: 'attention', ...about });
}

/** Opens a decision and notifies people of it: with the context, unless a shorter message is given. */
export function askPeople(
  world: EngineContext,
  { message, ...question }: Question & { readonly message?: string },
  decisionId: string = world.newId(),
): Event[] {
  const { title, context } = question;
  return [decisionOpenedEvent(decisionId, question), notifyAttention(world, title, message ?? context, decisionId)];
}
