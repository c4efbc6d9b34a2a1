import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ApiError } from '../api/answer.ts';
import { admit, isAddressed, type Admitted, type Door } from './access.ts';
import { Channel, type ChannelOptions } from './channel.ts';
import { readDescriptorLimit } from './descriptor-limit.ts';
import { WEBHOOK_PATH } from './github-webhook.ts';
import { keepPort, readKeptPort } from './kept-port.ts';
import { DOOR_LIMITS } from './limits.ts';
import { causeOf, type Log } from './log.ts';
import { RareLog } from './rare-log.ts';
import { CROWDED, INTERNAL, respond, STOPPING, TOO_MANY } from './respond.ts';
import { isOurVersion, pathIn, type Exchange } from './route.ts';
import { Seats, seatLimits } from './seats.ts';
import { servePage } from './serve-page.ts';
import { SessionGuard } from './session-guard.ts';
import { makeSocketPath, removeSocketFolder } from './socket-path.ts';
import type { Identity, Tokens } from './tokens.ts';
import { UnderWay } from './under-way.ts';

export interface ServerOptions {
  readonly stateDir: string;
  readonly tokens: Tokens;
  readonly log: Log;
  readonly route: (exchange: Exchange) => Promise<void>;
  readonly dispatch: ChannelOptions['dispatch'];
  /** What comes from GitHub: it has no token, and is known by its signature. */
  readonly webhook: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** The two doors of the daemon: a Unix socket and a port on loopback, with the same rules behind both. */
export class Server {
  readonly #options: ServerOptions;
  readonly #servers: HttpServer[] = [];
  readonly #underWay = new UnderWay();
  /** They are answered last, and not waited for. */
  readonly #stopRequests = new UnderWay();
  /** Connections that have become channels are no longer Node's to close. */
  readonly #channels = new Set<Duplex>();
  readonly #perSocket = new WeakMap<Socket, number>();
  readonly #guard: SessionGuard;
  readonly #seats: Seats<Socket>;
  readonly #seatLimits = seatLimits(readDescriptorLimit(), DOOR_LIMITS.connections);
  readonly #rare: RareLog;
  #socket = '';
  #isStopping = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#guard = new SessionGuard(options.stateDir);
    this.#seats = new Seats(this.#seatLimits);
    this.#rare = new RareLog(options.log);
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
    const listenOn = async (port: number): Promise<void> => listening(onPort, { host: '127.0.0.1', port });
    // Where somebody else has it meanwhile, any other will do.
    await listenOn(readKeptPort(this.#options.stateDir)).catch(async () => listenOn(0));
    const port = portOf(onPort);
    keepPort(this.#options.stateDir, port);
    return { socket, port };
  }

  /** From now on everybody hears that the daemon stops; those who wait are woken, the others get their answers. */
  async settle(): Promise<void> {
    this.#isStopping = true;
    this.#underWay.abort();
    await this.#underWay.emptied(DOOR_LIMITS.settleMs);
  }

  /** Nobody can connect any more; connections that are there stay. Node removes the socket. */
  closeDoors(): void {
    for (const server of this.#servers) server.close();
    removeSocketFolder(this.#socket);
  }

  /** Those who asked for the end have heard that it has come. */
  async farewell(): Promise<void> {
    await this.#stopRequests.emptied(DOOR_LIMITS.farewellMs);
    for (const server of this.#servers) server.closeAllConnections();
    await this.#endChannels();
  }

  /** The last answers may still lie in our own buffers: a channel ends when they are out, or when nobody takes them. */
  async #endChannels(): Promise<void> {
    const channels = [...this.#channels];
    const timer = setTimeout(() => channels.map((socket) => socket.destroy()), DOOR_LIMITS.farewellMs);
    const closed = channels.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.once('close', resolve);
          socket.end(() => socket.destroy());
        }),
    );
    await Promise.all(closed);
    clearTimeout(timer);
  }

  #create(port: (server: HttpServer) => number | undefined): HttpServer {
    const server: HttpServer = createServer(
      {
        keepAliveTimeout: DOOR_LIMITS.keepAliveMs,
        headersTimeout: DOOR_LIMITS.headersTimeoutMs,
        requestTimeout: DOOR_LIMITS.requestTimeoutMs,
        maxHeaderSize: DOOR_LIMITS.headerBytes,
        noDelay: true,
        // Whoever may not have a channel is answered like anybody else who may not.
        shouldUpgradeCallback: (request) => this.#findOpener(request, { port: port(server) }) !== undefined,
      },
      (request, response) => void this.#take(request, response, { port: port(server) }),
    );
    server.on('upgrade', (request, socket, head) => this.#openChannel(request, socket, head, { port: port(server) }));
    server.on('connection', (socket) => this.#seat(socket));
    // Without a listener an accept that fails would end the process.
    server.on('error', (error) => this.#rare.error('a connection cannot be accepted', { cause: error.message }));
    server.maxConnections = this.#seatLimits.total + 1;
    this.#servers.push(server);
    return server;
  }

  #seat(socket: Socket): void {
    socket.once('close', () => this.#seats.leave(socket));
    this.#unseat(this.#seats.enter(socket));
  }

  /** Closes an idle connection; its client connects again when it needs to. */
  #unseat(socket: Socket | undefined): void {
    if (socket === undefined) return;
    const { total } = this.#seatLimits;
    this.#rare.error('too many connections: those that were idle for longest are closed', { limit: total });
    this.#seats.leave(socket);
    socket.destroy();
  }

  /** Whether there is room for one more of its kind. */
  #isSeated(socket: Socket, { caller }: Identity): boolean {
    const { kind } = caller;
    const seated = this.#seats.identify(socket, kind === 'operator' || kind === 'worker' ? kind : 'session');
    if (seated !== 'full') this.#unseat(seated.close);
    else this.#rare.error('too many connections: one was refused', { kind, limit: this.#seatLimits.total });
    return seated !== 'full';
  }

  async #take(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
    const { log, route } = this.#options;
    response.sendDate = false;
    // A page that is led here under another name gets nothing, not even the page.
    if (!this.#isStopping && isAddressed(request, door) && servePage(request, response)) return;
    if (request.url === WEBHOOK_PATH && request.method === 'POST' && isAddressed(request, door))
      return this.#hearWebhook(request, response);
    const isStop = request.url === '/v1/stop';
    const admitted = this.#isStopping && !isStop ? STOPPING : (this.#busy(request) ?? this.#admit(request, door));
    if (!admitted.ok) {
      if (admitted !== STOPPING) log.info('refused', { code: admitted.error.code, path: pathOf(request) });
      respond(response, admitted, { closes: true });
      return;
    }
    if (!this.#isSeated(request.socket, admitted.identity)) return respond(response, CROWDED, { closes: true });
    const leave = this.#enter(request, response, isStop);
    try {
      await route({
        request,
        response,
        identity: admitted.identity,
        token: tokenIn(request),
        signal: leave.signal,
      });
    } catch (error) {
      log.error('a request failed', { path: pathOf(request), cause: causeOf(error) });
      respond(response, { ok: false, error: INTERNAL }, { closes: true });
    }
  }

  async #hearWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const busy = this.#isStopping ? STOPPING : this.#busy(request);
    if (busy !== undefined) return respond(response, busy, { closes: true });
    this.#enter(request, response, false);
    try {
      await this.#options.webhook(request, response);
    } catch (error) {
      this.#options.log.error('a webhook failed', { cause: causeOf(error) });
      respond(response, { ok: false, error: INTERNAL }, { closes: true });
    }
  }

  /** Counts the request until its answer is out, or its sender gone. */
  #enter(request: IncomingMessage, response: ServerResponse, isStop: boolean): { readonly signal: AbortSignal } {
    const { socket } = request;
    const set = isStop ? this.#stopRequests : this.#underWay;
    const controller = set.enter();
    this.#perSocket.set(socket, (this.#perSocket.get(socket) ?? 0) + 1);
    const rest = this.#seats.use(socket);
    response.once('close', () => {
      rest();
      this.#perSocket.set(socket, (this.#perSocket.get(socket) ?? 1) - 1);
      if (!response.writableFinished) controller.abort();
      set.leave(controller);
    });
    return controller;
  }

  #admit(request: IncomingMessage, door: Door): Admitted {
    return admit(request, door, { tokens: this.#options.tokens, guard: this.#guard });
  }

  #findOpener(request: IncomingMessage, door: Door): Identity | undefined {
    const isWanted = request.url === '/v1/calls' && request.headers.upgrade === 'baton-calls';
    if (!isWanted || this.#isStopping || !isOurVersion(request) || pathIn(request) === null) return undefined;
    const admitted = this.#admit(request, door);
    return admitted.ok ? admitted.identity : undefined;
  }

  #openChannel(request: IncomingMessage, socket: Duplex, head: Buffer, door: Door): void {
    const { tokens, dispatch } = this.#options;
    const identity = this.#findOpener(request, door);
    if (identity === undefined || !this.#isSeated(request.socket, identity)) {
      socket.destroy();
      return;
    }
    this.#channels.add(socket);
    socket.once('close', () => this.#channels.delete(socket));
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: baton-calls\r\n\r\n');
    const refuse = (given: Identity): ApiError | undefined => this.#guard.refuse(given, request.socket);
    const opened = { identity, token: tokenIn(request), projectPath: pathIn(request) ?? undefined, refuse };
    const dispatchSeated: ChannelOptions['dispatch'] = async (said) => {
      const rest = this.#seats.use(request.socket);
      return dispatch(said).finally(rest);
    };
    const shared = { tokens, dispatch: dispatchSeated, underWay: this.#underWay, isStopping: () => this.#isStopping };
    Channel.serve(socket, head, { ...opened, ...shared });
  }

  #busy({ socket }: IncomingMessage): { readonly ok: false; readonly error: ApiError } | undefined {
    const isBusy =
      this.#underWay.size >= DOOR_LIMITS.requestsTogether ||
      (this.#perSocket.get(socket) ?? 0) >= DOOR_LIMITS.requestsPerConnection;
    return isBusy ? TOO_MANY : undefined;
  }
}

function tokenIn({ headers }: IncomingMessage): string {
  return (headers.authorization ?? '').slice('Bearer '.length).trim();
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
