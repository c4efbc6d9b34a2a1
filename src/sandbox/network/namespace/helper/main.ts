import { connect, createServer, Socket } from 'node:net';
import { joinSockets } from '../../proxy/join-sockets.ts';
import type { ListenReport } from './report.ts';

/**
 * Runs inside a session's network namespace, but outside its sandbox. `listen PORT…` opens ports and sends them to the
 * supervisor, which serves them without a relay. `relay PORT` connects the host's sockets to a port inside. Both end
 * when the supervisor closes the channel or dies.
 */
const [mode, ...ports] = process.argv.slice(2);
process.on('disconnect', () => process.exit(0));
if (mode === 'listen') for (const port of ports) listen(Number(port));
if (mode === 'relay') process.on('message', (_, socket: unknown) => relay(socket, Number(ports[0])));

function listen(port: number): void {
  const server = createServer();
  const report = (message: ListenReport): void =>
    void process.send?.(message, message.error === null ? server : undefined);
  server.once('error', (error) => report({ port, error: 'code' in error ? String(error.code) : error.message }));
  server.listen({ host: '127.0.0.1', port }, () => report({ port, error: null }));
}

function relay(socket: unknown, port: number): void {
  if (!(socket instanceof Socket)) return;
  socket.allowHalfOpen = true;
  joinSockets(socket, connect({ host: '127.0.0.1', port, allowHalfOpen: true }), IDLE_MS);
}

const IDLE_MS = 15 * 60_000;
