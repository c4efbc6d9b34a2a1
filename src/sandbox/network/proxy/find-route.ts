import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Environment } from '../../../protocol/environment.ts';
import type { NetworkSpec } from '../../../protocol/sandbox.ts';
import { refuseAddress } from './addresses.ts';
import { type HostRules, isListedLoopback, type Target } from './host-rules.ts';
import { findUpstreamProxy, type UpstreamProxy } from './upstream-proxy.ts';

export interface OutboundRules {
  readonly hosts: HostRules;
  /** The policy that names the hosts, if it is no list. */
  readonly name?: NetworkSpec['name'];
  /** Ports of this machine that are refused even if the list names them, such as the daemon's. */
  readonly forbiddenPorts: readonly number[];
  /** The supervisor's environment, for the machine's proxy. */
  readonly env: Environment;
}

/**
 * How a connection reaches its host. `lookup` returns the checked addresses again, so that no other address is
 * connected to.
 */
export type Route = { readonly ok: true; readonly upstream: UpstreamProxy } | Resolved;
type Resolved = { readonly ok: true; readonly lookup: LookupFunction } | Unreachable;

/** `isRefused`: a rule forbids the address. Otherwise the host could not be resolved or reached. */
export interface Unreachable {
  readonly ok: false;
  readonly isRefused: boolean;
  readonly reason: string;
}

/** Resolves the host and checks its addresses, or leaves that to the machine's proxy. */
export async function findRoute(target: Target, rules: OutboundRules, isTls: boolean): Promise<Route> {
  const upstream = findUpstreamProxy(rules.env, target, isTls);
  if (upstream === undefined) return resolveTarget(target, rules);
  // A proxy on this machine could be used to reach the daemon. A remote proxy may be the only one that can resolve the
  // name.
  if (!isThisMachine(upstream) && !isThisMachine(target)) return { ok: true, upstream };
  const resolved = await resolveTarget(target, rules);
  return !resolved.ok && resolved.isRefused ? resolved : { ok: true, upstream };
}

export function isThisMachine({ host }: Target): boolean {
  return /(?:^|\.)localhost$/.test(host) || (isIP(host) !== 0 && refuseAddress(host, ownAddresses()) !== undefined);
}

/** Resolves the host, and drops addresses that a session must not reach. */
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

/** A code such as ECONNREFUSED. Never a message, because that of an HTTP error could quote a header. */
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
