import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Environment } from '../../../protocol/environment.ts';
import { refuseAddress } from './addresses.ts';
import { type HostRules, isListedLoopback, type Target } from './host-rules.ts';
import { findUpstreamProxy, type UpstreamProxy } from './upstream-proxy.ts';

export interface OutboundRules {
  readonly hosts: HostRules;
  /** Ports of this machine that are refused even if the list names them: the daemon's. */
  readonly forbiddenPorts: readonly number[];
  /** The supervisor's, for the proxy of the machine's owner. */
  readonly env: Environment;
}

/** How a connection reaches its host. `lookup` repeats an answer: the address that was checked is the one connected to. */
export type Route = { readonly ok: true; readonly upstream: UpstreamProxy } | Resolved;
type Resolved = { readonly ok: true; readonly lookup: LookupFunction } | Unreachable;

/** `isRefused`: a rule forbids the address. Otherwise the host could not be found or reached. */
export interface Unreachable {
  readonly ok: false;
  readonly isRefused: boolean;
  readonly reason: string;
}

/** Resolves the host and checks its addresses, or leaves that to the proxy of the machine's owner. */
export async function findRoute(target: Target, rules: OutboundRules, isTls: boolean): Promise<Route> {
  const upstream = findUpstreamProxy(rules.env, target, isTls);
  if (upstream === undefined) return resolveTarget(target, rules);
  // A proxy that runs on this machine could be led to the daemon. Another one may be all that can resolve the name.
  if (!isThisMachine(upstream) && !isThisMachine(target)) return { ok: true, upstream };
  const resolved = await resolveTarget(target, rules);
  return !resolved.ok && resolved.isRefused ? resolved : { ok: true, upstream };
}

export function isThisMachine({ host }: Target): boolean {
  return /(?:^|\.)localhost$/.test(host) || (isIP(host) !== 0 && refuseAddress(host, ownAddresses()) !== undefined);
}

/** Drops the addresses that a session must not reach. */
async function resolveTarget(target: Target, { hosts, forbiddenPorts }: OutboundRules): Promise<Resolved> {
  const mayBeLocal = isListedLoopback(hosts, target) && !forbiddenPorts.includes(target.port);
  return new Promise((resolve) => {
    lookUp(target.host, { all: true }, (error, addresses) => {
      if (error !== null) return resolve(unreachable(error));
      const own = ownAddresses();
      const isAllowed = ({ address }: LookupAddress): boolean =>
        mayBeLocal || refuseAddress(address, own) === undefined;
      const allowed = addresses.filter(isAllowed);
      if (allowed.length > 0) return resolve({ ok: true, lookup: repeatAnswer(allowed) });
      const [{ address } = { address: '' }] = addresses;
      const what = refuseAddress(address, own) ?? 'no address';
      resolve({ ok: false, isRefused: true, reason: address === target.host ? what : `it is ${address}, ${what}` });
    });
  });
}

export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}

export function unreachable(error: unknown): Unreachable {
  return { ok: false, isRefused: false, reason: describeFailure(error) };
}

/** A code such as ECONNREFUSED. Never a header: a message of an HTTP error could quote one. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return 'the connection failed';
  return String(error.code);
}

function repeatAnswer(addresses: LookupAddress[]): LookupFunction {
  return (_, options, callback) => {
    const [first = { address: '', family: 4 }] = addresses;
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
}
