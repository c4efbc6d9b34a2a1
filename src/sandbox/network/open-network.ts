import { Server } from 'node:net';
import type { NetworkSpec } from '../../protocol/sandbox.ts';
import { createNamespace } from './namespace/create-namespace.ts';
import { attachUplink, refuseUplink } from './namespace/uplink.ts';
import type { NetworkRequest, NetworkResult, OpenNetwork } from './network-request.ts';
import { planListeners, portsOf } from './plan-listeners.ts';
import { HostCounts } from './proxy/host-counts.ts';
import type { HostRules } from './proxy/host-rules.ts';
import { isThisMachine } from './proxy/find-route.ts';
import { upstreamProxies } from './proxy/upstream-proxy.ts';
import { closeHttp, serveInjections } from './serve.ts';
import { closeParts, type Inside, serveInside } from './serve-inside.ts';

/** Opens the network of one session by its policy. */
export async function openNetwork(request: NetworkRequest): Promise<NetworkResult> {
  const { spec, env } = request;
  const mayDegrade = spec.policy === 'full' || spec.isDefault === true;
  if (request.hostOnly !== undefined) return openOnHost(request, request.hostOnly);
  const lack = spec.policy === 'full' ? refuseUplink(env) : undefined;
  if (lack?.onlyIp === false) return openOnHost(request, lack.reason);
  const hosts = proxiedHosts(request, lack !== undefined);
  const hasHook = request.onRequest !== undefined;
  const listeners = planListeners(spec, { hasHook, hasProxy: hosts !== null, forbidden: request.forbiddenPorts });
  const ports = portsOf(listeners);
  const isEmpty = spec.policy === 'none' && ports.length === 0 && spec.port === null;
  if (isEmpty && request.isShared !== true) return { ok: true, network: NO_NETWORK };

  const created = await createNamespace({ env, ports, helper: request.helper, owner: request.owner ?? [] });
  if (!created.ok) return mayDegrade ? openOnHost(request, created.reason) : created;
  const { namespace } = created;
  const onUplinkEnd = (): void =>
    request.onNote('baton: the uplink of this session ended, so the session has no network now');
  const [connected, opened] = await Promise.all([
    spec.policy === 'full' && lack === undefined ? attachUplink(namespace, env, onUplinkEnd) : undefined,
    namespace.servers,
  ]);
  const inside: Inside = {
    namespace,
    opened,
    listeners,
    hosts,
    uplink: connected?.ok === true ? connected.uplink : null,
  };
  const failure = connected?.ok === false ? connected.reason : undefined;
  const isComplete = ports.every((port) => opened.get(port) instanceof Server || listeners.local.includes(port));
  if (failure === undefined && isComplete)
    return { ok: true, network: await serveInside(request, inside, lack?.reason) };
  await closeParts(inside);
  if (failure !== undefined) return openOnHost(request, failure);
  const reason = 'the ports of the session could not be opened in its namespace';
  return spec.isDefault === true ? openOnHost(request, reason) : { ok: false, reason };
}

/** The hosts that the proxy serves; null if the session needs no proxy. */
function proxiedHosts({ spec, env }: NetworkRequest, lacksIp: boolean): HostRules | null {
  if (spec.policy === 'proxy') return spec.hosts;
  if (spec.policy === 'none') return null;
  // A machine-wide proxy on this machine cannot be reached from inside.
  return lacksIp || upstreamProxies(env).some(isThisMachine) ? 'all' : null;
}

/** Opens the network without a separate namespace; only injected secrets need an address then. */
async function openOnHost(request: NetworkRequest, reason: string): Promise<NetworkResult> {
  const counts = new HostCounts(request.onNote);
  const injected = await serveInjections(request.spec.inject, [], request, counts);
  const network: OpenNetwork = {
    ...NO_NETWORK,
    unsharesNet: false,
    env: injected.env,
    summary: 'host',
    notes: [`The session uses the host's network: ${reason}.`, ...describeUnenforced(request.spec), ...injected.notes],
    counts: () => counts.list(),
    close: async () => injected.servers.forEach(closeHttp),
  };
  return { ok: true, network };
}

function describeUnenforced({ isDefault, name }: NetworkSpec): readonly string[] {
  if (isDefault !== true || name === undefined) return [];
  return [
    `Its network is not limited to "${name}", which nobody has demanded: a policy in the runbook refuses the start.`,
  ];
}

const NO_NETWORK: OpenNetwork = {
  url: null,
  enter: [],
  unsharesNet: true,
  namespaces: null,
  env: {},
  summary: 'none',
  notes: [],
  resolvConf: null,
  counts: () => [],
  close: async () => {},
};
