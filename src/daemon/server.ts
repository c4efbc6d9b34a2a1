import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ApiError } from '../api/answer.ts';
import { admit, type Door } from './access.ts';
import { DOOR_LIMITS } from './limits.ts';
import { causeOf, type Log } from './log.ts';
import { INTERNAL, respond } from './respond.ts';
import type { Exchange } from './route.ts';
import { makeSocketPath, removeSocketFolder } from './socket-path.ts';
import type { Tokens } from './tokens.ts';

export interface ServerOptions {
  readonly stateDir: string;
  readonly tokens: Tokens;
  readonly log: Log;
  readonly route: (exchange: Exchange) => Promise<void>;
}

/** The two doors of the daemon: a Unix socket and a port on loopback, with the same rules behind both. */
export class Server {
  readonly #options: ServerOptions;
  readonly #servers: HttpServer[] = [];
  readonly #underWay = new Set<AbortController>();
  /** They are answered last, and not waited for. */
  readonly #stopRequests = new Set<AbortController>();
  readonly #perSocket = new WeakMap<Socket, number>();
  #socket = '';
  #isStopping = false;
  #onLeave: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  async listen(): Promise<{ readonly socket: string; readonly port: number }> {
    const socket = makeSocketPath(this.#options.stateDir);
    this.#socket = socket;
    const [onSocket, onPort] = [this.#create(() => undefined), this.#create((server) => portOf(server))];
    await listening(onSocket, { path: socket });
    chmodSync(socket, 0o600);
    await listening(onPort, { host: '127.0.0.1', port: 0 });
    return { socket, port: portOf(onPort) };
  }

  /** From now on everybody hears that the daemon stops; those who wait are woken, the others get their answers. */
  async settle(): Promise<void> {
    this.#isStopping = true;
    for (const controller of this.#underWay) controller.abort();
    await this.#emptied(this.#underWay, DOOR_LIMITS.settleMs);
  }

  /** Nobody can connect any more; connections that are there stay. Node removes the socket. */
  closeDoors(): void {
    for (const server of this.#servers) server.close();
    removeSocketFolder(this.#socket);
  }

  /** Those who asked for the end have heard that it has come. */
  async farewell(): Promise<void> {
    await this.#emptied(this.#stopRequests, DOOR_LIMITS.farewellMs);
    for (const server of this.#servers) server.closeAllConnections();
  }

  async #emptied(set: ReadonlySet<AbortController>, timeoutMs: number): Promise<void> {
    if (set.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onLeave = () => {
        if (set.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #create(port: (server: HttpServer) => number | undefined): HttpServer {
    const server: HttpServer = createServer(
      {
        keepAliveTimeout: DOOR_LIMITS.keepAliveMs,
        headersTimeout: DOOR_LIMITS.headersTimeoutMs,
        requestTimeout: DOOR_LIMITS.requestTimeoutMs,
        maxHeaderSize: DOOR_LIMITS.headerBytes,
        noDelay: true,
      },
      (request, response) => void this.#take(request, response, { port: port(server) }),
    );
    server.maxConnections = DOOR_LIMITS.connections;
    this.#servers.push(server);
    return server;
  }

  async #take(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
    const { tokens, log, route } = this.#options;
    response.sendDate = false;
    const isStop = request.url === '/v1/stop';
    const admitted = this.#isStopping && !isStop ? STOPPING : (this.#busy(request) ?? admit(request, door, tokens));
    if (!admitted.ok) {
      if (admitted !== STOPPING) log.info('refused', { code: admitted.error.code, path: pathOf(request) });
      respond(response, admitted, { closes: true });
      return;
    }
    const token = (request.headers.authorization ?? '').slice('Bearer '.length).trim();
    const leave = this.#enter(request, response, isStop);
    try {
      await route({ request, response, identity: admitted.identity, token, signal: leave.signal });
    } catch (error) {
      log.error('a request failed', { path: pathOf(request), cause: causeOf(error) });
      respond(response, { ok: false, error: INTERNAL }, { closes: true });
    }
  }

  /** Counts the request until its answer is out, or its sender gone. */
  #enter(request: IncomingMessage, response: ServerResponse, isStop: boolean): { readonly signal: AbortSignal } {
    const controller = new AbortController();
    const { socket } = request;
    const set = isStop ? this.#stopRequests : this.#underWay;
    set.add(controller);
    this.#perSocket.set(socket, (this.#perSocket.get(socket) ?? 0) + 1);
    response.once('close', () => {
      this.#perSocket.set(socket, (this.#perSocket.get(socket) ?? 1) - 1);
      set.delete(controller);
      if (!response.writableFinished) controller.abort();
      this.#onLeave?.();
    });
    return controller;
  }

  #busy({ socket }: IncomingMessage): { readonly ok: false; readonly error: ApiError } | undefined {
    const isBusy =
      this.#underWay.size >= DOOR_LIMITS.requestsTogether ||
      (this.#perSocket.get(socket) ?? 0) >= DOOR_LIMITS.requestsPerConnection;
    return isBusy ? TOO_MANY : undefined;
  }
}

/** Without the query, in which somebody may have put a secret. */
function pathOf({ url = '' }: IncomingMessage): string {
  return (url.split('?', 1)[0] ?? '').slice(0, 100);
}

async function listening(server: HttpServer, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...where, backlog: DOOR_LIMITS.connections }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: HttpServer): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const STOPPING = {
  ok: false,
  error: { code: 'stopping', message: 'the daemon is stopping', hint: 'Try again in a moment.' },
} as const;

const TOO_MANY = {
  ok: false,
  error: { code: 'rate-limited', message: 'too many requests at once', hint: 'Wait for some answers first.' },
} as const;
