import type { Event, EventType } from './event.ts';

/** The result of a command: entries to record and an answer, or a refusal, which changes nothing. */
export type Outcome<A> =
  | { readonly ok: true; readonly events: readonly Event[]; readonly answer: A }
  | { readonly ok: false; readonly refusal: Refusal };

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export function decided<A>(events: readonly Event[], answer: A): Outcome<A> {
  return { ok: true, events, answer };
}

export function refusal(
  code: string,
  message: string,
  hint: string,
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, message, hint } };
}

/**
 * Reports whether these entries judge a session by missing messages: its process exited or was silent without a signal,
 * its claim was not renewed, a timer fired. A message in the outbox could change each of these judgements, so the
 * command loop records all kept messages of the project first.
 */
export function judgesBySilence(events: readonly Event[]): boolean {
  return events.some(({ type }) => JUDGEMENTS.has(type));
}

const JUDGEMENTS: ReadonlySet<EventType> = new Set<EventType>([
  'AgentExited',
  'AgentStartFailed',
  'AgentSilent',
  'ClaimExpired',
  'TimerFired',
]);
