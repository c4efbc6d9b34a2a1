import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { refuseUnknownHost } from './admit-host.ts';
import { findHost, type FleetState, listHosts } from './fleet.ts';

export interface RemoveHost {
  readonly host: string;
  readonly reason: string;
  readonly by: string;
}

/** Removes a host that never returns. What ran there is recorded as lost: see `engine/fleet/removed-host.ts`. */
export function decideRemoveHost(state: FleetState, { host, reason, by }: RemoveHost): Outcome<null> {
  const known = findHost(state, host);
  if (known === undefined) return refuseUnknownHost(state, host);
  if (listHosts(state).length === 1) {
    const hint = 'Admit another host first: baton host admit NAME FINGERPRINT';
    return refusal('last-host', `${host} is the last host of this project`, hint);
  }
  return decided([event('HostRemoved', { host, reason, by }), event('KeyRevoked', { key: known.publicKey })], null);
}
