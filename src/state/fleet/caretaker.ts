import type { Caller } from '../caller.ts';
import { event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { refuseNoFleet, refuseUnknownHost } from './admit-host.ts';
import { findFleet, findHost, type FleetState, listHosts } from './fleet.ts';

/** Records that the database granted the caretaker's lease. Terms only grow; the same host can get a new one. */
export function decideChangeCaretaker(state: FleetState, { host, term }: Events['CaretakerChanged']): Outcome<null> {
  const fleet = findFleet(state);
  if (fleet === undefined) return refuseNoFleet();
  if (findHost(state, host) === undefined) return refuseUnknownHost(state, host);
  const current = fleet.caretaker;
  if (current?.term === term && current.host === host) return decided([], null);
  if (term <= (current?.term ?? 0)) return refuseStaleTerm(term, current?.term ?? 0);
  return decided([event('CaretakerChanged', { host, term })], null);
}

/**
 * Reports whether a host may become caretaker. A draining host may not, unless all hosts drain: running sessions end
 * normally, and a caretaker must check and merge their work.
 */
export function mayCare(state: FleetState, name: string): boolean {
  const host = findHost(state, name);
  return host !== undefined && (!host.draining || listHosts(state).every(({ draining }) => draining));
}

/** The only check of a caretaker's term: outcomes of an older term change nothing. */
export function findStaleTerm(state: FleetState, caller: Caller): ReturnType<typeof refusal> | undefined {
  const term = caller.kind === 'system' ? caller.term : undefined;
  const current = findFleet(state)?.caretaker?.term ?? 0;
  return term !== undefined && term < current ? refuseStaleTerm(term, current) : undefined;
}

function refuseStaleTerm(term: number, current: number): ReturnType<typeof refusal> {
  const hint = 'Another host is the caretaker now and does the rest.';
  return refusal('stale-caretaker', `stale caretaker: term ${term} < ${current}`, hint);
}

export function decideRaiseLevel(state: FleetState, { level }: Events['LevelRaised']): Outcome<null> {
  const fleet = findFleet(state);
  if (fleet === undefined) return refuseNoFleet();
  return decided(level > fleet.level ? [event('LevelRaised', { level })] : [], null);
}
