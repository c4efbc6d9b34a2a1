import { request } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import type { Target } from './host-rules.ts';
import { findRoute, type OutboundRules, unreachable, type Unreachable } from './find-route.ts';
import type { UpstreamProxy } from './upstream-proxy.ts';

export type Connected = { readonly ok: true; readonly socket: Socket } | Unreachable;

/** Opens a connection for a tunnel, directly or through the machine's proxy. */
export async function connectOut(target: Target, rules: OutboundRules): Promise<Connected> {
  const route = await findRoute(target, rules, true);
  if (!route.ok) return route;
  return 'upstream' in route ? connectThrough(route.upstream, target) : connectDirectly(target, route.lookup);
}

async function connectDirectly({ host, port }: Target, lookup: LookupFunction): Promise<Connected> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, lookup, autoSelectFamily: true, allowHalfOpen: true });
    socket.setTimeout(CONNECT_MS, () => socket.destroy(TIMEOUT));
    socket.once('error', (error) => resolve(unreachable(error)));
    socket.once('connect', () => resolve({ ok: true, socket: socket.setTimeout(0) }));
  });
}

async function connectThrough(upstream: UpstreamProxy, { host, port }: Target): Promise<Connected> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const { authorization, isSecure } = upstream;
  const address = { host: upstream.host, port: upstream.port };
  const secure = isSecure ? (await import('node:tls')).connect({ ...address, servername: address.host }) : undefined;
  return new Promise((resolve) => {
    const asking = request({
      ...address,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization !== undefined && { 'proxy-authorization': authorization }) },
      timeout: CONNECT_MS,
      agent: false,
      ...(secure !== undefined && { createConnection: () => secure }),
    });
    const fail = (status = 0): void => {
      asking.destroy();
      resolve({ ok: false, isRefused: false, reason: `the upstream proxy answered with status ${status}` });
    };
    asking.once('connect', ({ statusCode }, socket, head) => {
      if (statusCode !== 200) return fail(statusCode);
      if (head.length > 0) socket.unshift(head);
      resolve({ ok: true, socket: socket.setTimeout(0) });
    });
    asking.once('response', ({ statusCode }) => fail(statusCode));
    asking.once('timeout', () => asking.destroy(TIMEOUT));
    asking.once('error', (error) => resolve(unreachable(error)));
    asking.end();
  });
}

const CONNECT_MS = 30_000;
const TIMEOUT = Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
