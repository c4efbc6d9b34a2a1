import type { Event, EventType } from './event.ts';

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
