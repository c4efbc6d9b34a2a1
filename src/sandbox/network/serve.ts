import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import type { Injection } from '../../protocol/sandbox.ts';
import type { HostCounts } from './proxy/host-counts.ts';
import { createInjectionServer } from './injection.ts';
import type { NetworkRequest } from './network-request.ts';

/** A port that was opened inside, or a free port of the host's loopback address. */
export type Place = NetServer | 'host';

/** Starts an HTTP server at a place and returns its port. */
export async function serveAt(server: Server, place: Place): Promise<number> {
  server.listen(place === 'host' ? { host: '127.0.0.1', port: 0 } : place);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * The server for the session's hooks, MCP and CLI. It has no timeouts: a stop waits for the daemon, and a stream never
 * ends.
 */
export function createHookServer(onRequest: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer({ keepAliveTimeout: 120_000, noDelay: true, maxHeaderSize: 16_384 }, onRequest);
  server.requestTimeout = 0;
  server.maxConnections = 256;
  return server;
}

export interface ServedInjections {
  readonly servers: readonly Server[];
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Serves each secret at a separate address, which the client's variables name. */
export async function serveInjections(
  inject: readonly Injection[],
  places: readonly Place[],
  request: Pick<NetworkRequest, 'secrets' | 'env' | 'meter'>,
  counts: HostCounts,
): Promise<ServedInjections> {
  const servers: Server[] = [];
  const env: Record<string, string> = {};
  const notes: string[] = [];
  for (const [index, injection] of inject.entries()) {
    const secret = request.secrets[injection.secret]?.trim() ?? '';
    if (secret === '') notes.push(`The secret ${injection.secret} has no value, so the session is without it.`);
    if (secret === '') continue;
    if (request.meter === undefined) throw new Error(`nothing counts the requests with ${injection.secret}`);
    const { server, path } = createInjectionServer(injection, secret, {
      counts,
      env: request.env,
      meter: request.meter,
    });
    const port = await serveAt(server, places[index] ?? 'host');
    servers.push(server);
    for (const [name, value] of Object.entries(injection.env))
      env[name] = value.replaceAll('${URL}', `http://127.0.0.1:${port}${path}`);
  }
  return { servers, env, notes };
}

export function closeHttp(server: Server): void {
  server.close();
  server.closeAllConnections();
}
