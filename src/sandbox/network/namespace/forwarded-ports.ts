import type { ChildProcess } from 'node:child_process';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Environment } from '../../../protocol/environment.ts';
import { joinSockets } from '../proxy/join-sockets.ts';
import { helperCommand, type Namespace } from './create-namespace.ts';
import { startTool } from './tools.ts';

/** Pipes connections on a port inside to the same port of the host's loopback address. */
export function serveLocalPort(server: Server, port: number, onConnection: () => void): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (inside: Socket) => {
    onConnection();
    const outside = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    inside.allowHalfOpen = true;
    joinSockets(inside, outside, IDLE_MS);
  });
}

export interface PublishedPort {
  /** Why the port is not published; null if it is. */
  readonly failure: string | null;
  close(): void;
}

/**
 * Listens on the host's loopback address and forwards connections into the session. Node cannot connect from another
 * namespace, so a relay runs inside; the first connection starts it, since most sessions have no server.
 */
export async function publishPort(
  port: number,
  { enter }: Namespace,
  helper: string,
  env: Environment,
): Promise<PublishedPort> {
  let relay: ChildProcess | undefined;
  const startRelay = (): ChildProcess => {
    const argv = [...enter, ...helperCommand(helper), 'relay', String(port)];
    const child = startTool(argv, env, ['ignore', 'ignore', 'ignore', 'ipc']);
    const forget = (): void => void (relay = relay === child ? undefined : relay);
    child.once('exit', forget);
    child.once('error', forget);
    return child;
  };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    relay ??= startRelay();
    relay.send({}, socket, (error) => void (error !== null && socket.destroy()));
  });
  server.maxConnections = MAX_CONNECTIONS;
  const failure = await new Promise<string | null>((resolve) => {
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    server.listen({ host: '127.0.0.1', port }, () => resolve(null));
  });
  const close = (): void => {
    server.close();
    if (relay?.connected === true) relay.disconnect();
  };
  return { failure, close };
}

const MAX_CONNECTIONS = 256;
const IDLE_MS = 15 * 60_000;
