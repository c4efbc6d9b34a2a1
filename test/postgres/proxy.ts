import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The fault of the next message that contains the marker; later messages pass. */
export type Fault =
  /** The connection breaks, and the server never receives the message. */
  | 'cut before'
  /** The server receives and processes the message; the connection breaks before the answer. */
  | 'cut after'
  /** The connection breaks, and the server receives the message when `release` is called. */
  | 'late'
  /** The message is lost without an error, like on an unplugged cable. */
  | 'silence';

export interface Proxy {
  url(database: string): string;
  /** Resolves when the fault has happened. */
  fault(kind: Fault, marker: string): Promise<void>;
  release(): void;
  /** Makes new connections wait until the returned function is called. */
  pause(): () => void;
  /** Drops everything in both directions, including new connections, until the returned function is called. */
  freeze(): () => void;
  stop(): Promise<void>;
}

interface Plan {
  readonly kind: Fault;
  readonly marker: string;
  readonly happened: () => void;
}

/** A proxy between a client and PostgreSQL that breaks the connection at chosen moments. */
export async function startProxy(socketFolder: string): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-proxy-'));
  const sockets = new Set<Socket>();
  let plan: Plan | undefined;
  let held: (() => void) | undefined;
  let gate: Promise<void> = Promise.resolve();
  let isFrozen = false;

  const forward = (client: Socket): void => {
    if (client.destroyed) return;
    const upstream = createConnection(join(socketFolder, '.s.PGSQL.5432'));
    keep(sockets, upstream);
    let isBroken = false;
    upstream.on('data', (answer) => {
      if (isBroken) client.destroy();
      else if (!isFrozen) client.write(answer);
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => isBroken || upstream.destroy());
    client.on('data', (message) => {
      if (isBroken || isFrozen) return;
      if (plan === undefined || !message.includes(plan.marker)) {
        upstream.write(message);
        return;
      }
      const { kind, happened } = plan;
      plan = undefined;
      isBroken = true;
      if (kind === 'cut after') upstream.write(message);
      if (kind === 'late') held = () => upstream.write(message);
      if (kind === 'cut before' || kind === 'late') client.destroy();
      happened();
    });
    client.resume();
  };

  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(sockets, client);
    void gate.then(() => forward(client));
  });
  server.listen(join(folder, '.s.PGSQL.5432'));
  await once(server, 'listening');

  return {
    url: (database) => `postgres://postgres@${encodeURIComponent(folder)}/${database}`,
    fault: (kind, marker) => new Promise((happened) => (plan = { kind, marker, happened })),
    release: () => held?.(),
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    freeze() {
      isFrozen = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        // Dropped data is lost, so no connection can continue.
        for (const socket of sockets) socket.destroy();
        isFrozen = false;
        resolve();
      };
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
}
