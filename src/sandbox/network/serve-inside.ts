import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import type { NetworkSpec } from '../../protocol/sandbox.ts';
import type { Namespace } from './namespace/create-namespace.ts';
import { type PublishedPort, publishPort, serveLocalPort } from './namespace/forwarded-ports.ts';
import type { Uplink } from './namespace/uplink.ts';
import type { NetworkRequest, OpenNetwork } from './network-request.ts';
import type { Listeners } from './plan-listeners.ts';
import { HostCounts } from './proxy/host-counts.ts';
import type { HostRules } from './proxy/host-rules.ts';
import { createProxy } from './proxy/proxy.ts';
import { proxyVariables } from './proxy/proxy-variables.ts';
import { closeHttp, createHookServer, type Place, serveAt, serveInjections } from './serve.ts';

/** A namespace with open ports, before any of them is served. */
export interface Inside {
  readonly namespace: Namespace;
  readonly opened: ReadonlyMap<number, Server | string>;
  readonly listeners: Listeners;
  readonly hosts: HostRules | null;
  readonly uplink: Uplink | null;
}

/** Serves all ports of a session's namespace. `lack`: why it has the proxy instead of an uplink. */
export async function serveInside(
  request: NetworkRequest,
  inside: Inside,
  lack: string | undefined,
): Promise<OpenNetwork> {
  const { spec, env, onRequest, onNote } = request;
  const { namespace, opened, listeners, hosts, uplink } = inside;
  const counts = new HostCounts(onNote);
  const notes = lack === undefined ? [] : [`The session reaches other machines only over HTTP and HTTPS: ${lack}.`];
  const place = (port: number): Place => {
    const server = opened.get(port);
    if (server instanceof Server) return server;
    throw new Error(`port ${port} is not open inside`);
  };
  const http: HttpServer[] = [];
  const serve = async (server: HttpServer, port: number): Promise<string> => {
    http.push(server);
    return `http://127.0.0.1:${await serveAt(server, place(port))}`;
  };
  const { hook, proxy } = listeners;
  const url = onRequest !== undefined && hook !== null ? await serve(createHookServer(onRequest), hook) : null;
  const rules = { hosts: hosts ?? [], name: spec.name, forbiddenPorts: request.forbiddenPorts, env };
  const proxyUrl = proxy === null ? undefined : await serve(createProxy(rules, counts), proxy);
  const injected = await serveInjections(spec.inject, listeners.inject.map(place), request, counts);
  const local = serveLocalPorts(spec, inside, counts);
  const published = spec.port === null ? undefined : await publishPort(spec.port, namespace, request.helper, env);
  return {
    url,
    enter: namespace.enter,
    unsharesNet: false,
    namespaces: namespace.paths,
    env: { ...(proxyUrl === undefined ? {} : proxyVariables(proxyUrl)), ...injected.env },
    summary: spec.policy === 'full' && lack !== undefined ? 'proxy' : (spec.name ?? spec.policy),
    notes: [...notes, ...injected.notes, ...local, ...describePublished(spec.port, published)],
    resolvConf: uplink?.resolvConf ?? null,
    counts: () => counts.list(),
    close: async () => {
      for (const server of [...http, ...injected.servers]) closeHttp(server);
      published?.close();
      await closeParts(inside);
    },
  };
}

export async function closeParts({ namespace, opened, uplink }: Inside): Promise<void> {
  for (const server of opened.values()) if (server instanceof Server) server.close();
  await uplink?.close();
  namespace.close();
}

/** Serves local ports. Returns a note for each port that is not forwarded. */
function serveLocalPorts({ local }: NetworkSpec, { opened, listeners }: Inside, counts: HostCounts): readonly string[] {
  const failed = listeners.local.flatMap((port) => {
    const server = opened.get(port);
    if (!(server instanceof Server)) return [`Port ${port} is not forwarded into the session: ${server}.`];
    serveLocalPort(server, port, () => counts.allow(`127.0.0.1:${port}`));
    return [];
  });
  const refused = local.filter((port) => !listeners.local.includes(port));
  return [...refused.map((port) => `Port ${port} is not forwarded into the session: Baton uses it.`), ...failed];
}

function describePublished(port: number | null, published: PublishedPort | undefined): readonly string[] {
  if (published === undefined || published.failure === null) return [];
  const reason = published.failure === 'EADDRINUSE' ? 'another program listens there' : published.failure;
  return [`Connections to port ${port} of this machine do not reach the session: ${reason}.`];
}
