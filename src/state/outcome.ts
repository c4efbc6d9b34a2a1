import type { Event, EventType } from './event.ts';

/** The result of a command: entries to record and an answer, or a refusal that changes nothing. */
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
 * Whether these events judge a session by what was not heard from it: its process ended or was silent without a signal, its claim was not
 * renewed, a timer ran out. A message that the session sent earlier and that is still on its way would change each of these judgements, so that all
 * kept messages of the project are recorded first. `daemon/keeper.ts` enforces it for every request.
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
